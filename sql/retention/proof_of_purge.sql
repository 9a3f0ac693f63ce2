-- Whether every purge is proven: no total changed, and no file that held the texts before is left on the disk.
-- grain: one row per run of 'thinkledger retain' that changed something, the newest first
-- reads: runs, data_files
--
-- Superseded files stay for a grace, so that queries which still read them end well; the first run after it removes them
-- ('retain --grace 0' at once). A file of the run's own generation that another, killed run left behind counts too, and
-- so do spill files of readers' databases. What backups of the lake hold is beyond this.
WITH
    purges AS (
        SELECT
            run_id,
            generation,
            split_part(run_id, '-', 2) AS token,
            ended_at AS purged_at,
            retention.policy AS policy,
            retention.as_of AS as_of,
            retention.rows AS rows_purged,
            retention.bytes AS bytes_purged,
            retention.totals_before = retention.totals_after AS totals_equal
        FROM runs
        WHERE retention IS NOT NULL
    )

SELECT
    run_id,
    purged_at,
    policy,
    as_of,
    rows_purged,
    bytes_purged,
    totals_equal,
    count(path) AS files_left,
    totals_equal AND count(path) = 0 AS proven
FROM purges
LEFT JOIN data_files
    ON NOT is_live
    AND (data_files.kind = 'spill' OR (data_files.generation <= purges.generation AND data_files.token <> purges.token))
GROUP BY run_id, purged_at, policy, as_of, rows_purged, bytes_purged, totals_equal
ORDER BY purged_at DESC, run_id;

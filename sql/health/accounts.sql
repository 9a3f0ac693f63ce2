-- What every run read and what became of each record, the newest run first.
-- grain: one row per run
-- reads: runs
--
-- records = calls + parts + duplicates + skipped + rejects.
SELECT
    run_id,
    generation,
    started_at,
    ended_at,
    inputs,
    normaliser_version,
    bytes,
    records,
    calls,
    parts,
    duplicates,
    skipped,
    rejects,
    replaced,
    id_conflicts,
    partitions,
    skipped_by,
    rejects_by
FROM runs
ORDER BY generation DESC, ended_at DESC;

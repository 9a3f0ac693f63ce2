-- The account of every committed run: records = calls + parts + duplicates + skipped + rejects.
-- grain: one row per run
-- reads: runs/<run_id>.json
CREATE VIEW runs AS
SELECT
    run_id,
    generation,
    started_at,
    ended_at,
    inputs,
    schema_version,
    normaliser_version,
    tally.bytes AS bytes,
    tally.records AS records,
    calls,
    tally.parts AS parts,
    duplicates,
    coalesce(list_sum(map_values(tally.skipped)), 0)::BIGINT AS skipped,
    rejects,
    replaced,
    removed,
    id_conflicts,
    tally.calls_by AS calls_by,
    tally.skipped AS skipped_by,
    tally.rejects AS rejects_by,
    duplicates_by,
    tally.sources AS sources,
    tally.unmatched AS unmatched,
    files,
    len(partitions) AS partitions,
    retention
FROM $rows;

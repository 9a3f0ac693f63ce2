-- What could not be read, and why.
-- grain: one row per reason, source and detail
-- reads: rejects
-- parameters: since, until (dates, both inclusive; a reject without a time is always shown)
SELECT
    reason,
    source,
    detail,
    count(*) AS records,
    sum(octet_length(raw)) AS raw_bytes,
    min(source_file) AS first_file,
    min_by(source_position, (source_file, source_position)) AS first_position
FROM rejects
WHERE (getvariable('since') IS NULL OR date IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY records DESC, reason, source, detail;

-- Which effort was asked for, which one ran, and who says so.
-- grain: one row per model, effort asked, effort applied and source
-- reads: calls
-- parameters: since, until (dates, both inclusive)
--
-- A null effort_asked asked for nothing; a null effort_applied is not known, which is not the same as the default.
SELECT
    provider,
    model,
    coalesce(effort_requested, effort_requested_raw, CASE thinking_requested WHEN 'off' THEN 'thinking off' END)
        AS effort_asked,
    effort_applied,
    effort_applied_source,
    effort_change,
    count(*) AS calls,
    sum(reasoning_tokens) AS reasoning_tokens,
    round(avg(reasoning_tokens), 1) AS mean_reasoning_tokens,
    count(*) FILTER (WHERE reasoning_tokens IS NULL) AS calls_without_count
FROM calls
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY calls DESC, provider, model, effort_asked, effort_applied;

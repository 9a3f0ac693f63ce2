-- Tokens by day, provider and model, and how much of the output was reasoning.
-- grain: one row per date, provider, billed_by and model
-- reads: calls
-- parameters: since, until (dates, both inclusive)
--
-- reasoning_share is taken over the calls that report a reasoning count, and reasoning_coverage says how much of the
-- output those calls are: a share without its coverage would pass silence off as zero.
SELECT
    date,
    provider,
    billed_by,
    model,
    count(*) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(cached_input_tokens) AS cached_input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens,
    round(
        sum(reasoning_tokens) / nullif(sum(output_tokens) FILTER (WHERE reasoning_tokens IS NOT NULL), 0), 4
    ) AS reasoning_share,
    round(
        sum(output_tokens) FILTER (WHERE reasoning_tokens IS NOT NULL) / nullif(sum(output_tokens), 0), 4
    ) AS reasoning_coverage,
    count(*) FILTER (WHERE output_tokens IS NULL) AS calls_without_usage
FROM calls
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY date, output_tokens DESC NULLS LAST, provider, model;

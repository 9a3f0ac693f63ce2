-- What the output was, by day and model: reasoning, the rest, and what no count splits.
-- grain: one row per date and model of the leading ones, and one per date for all others (place is null)
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many models lead, 8 by default); step (day by default,
-- week, month …: date is its first day)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split, as in totals.
WITH
    days AS (
        SELECT
            date_trunc(coalesce(getvariable('step'), 'day'), date)::DATE AS date,
            provider,
            model,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
            sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
            sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
            count(*) FILTER (WHERE output_tokens IS NULL) AS calls_without_usage
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    ranked AS (
        SELECT
            provider,
            model,
            row_number() OVER (ORDER BY sum(output_tokens) DESC NULLS LAST, sum(calls) DESC, provider, model) AS place
        FROM days
        GROUP BY provider, model
        QUALIFY place <= coalesce(getvariable('top')::INTEGER, 8)
    )

SELECT
    date,
    place,
    ranked.provider,
    ranked.model,
    sum(calls)::BIGINT AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_in_output) AS reasoning_in_output,
    sum(rest_of_output) AS rest_of_output,
    sum(output_not_split) AS output_not_split,
    sum(calls_without_usage)::BIGINT AS calls_without_usage
FROM days
LEFT JOIN ranked
    ON ranked.provider IS NOT DISTINCT FROM days.provider
    AND ranked.model IS NOT DISTINCT FROM days.model
GROUP BY ALL
ORDER BY ALL;

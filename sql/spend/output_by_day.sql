-- What the output was, by day and model: reasoning, the rest, and what no count splits.
-- grain: one row per date and model of the leading ones, and one per date for all others (place is null)
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many models lead, 8 by default); step (day by default,
-- week, month …: date is its first day)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split, as in totals.
WITH
    asked AS (
        SELECT *
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    ),

    ranked AS (
        SELECT
            provider,
            model,
            row_number() OVER (ORDER BY sum(output_tokens) DESC NULLS LAST, count(*) DESC, provider, model) AS place
        FROM asked
        GROUP BY provider, model
        QUALIFY place <= coalesce(getvariable('top')::INTEGER, 8)
    )

SELECT
    date_trunc(coalesce(getvariable('step'), 'day'), date)::DATE AS date,
    place,
    ranked.provider,
    ranked.model,
    count(*) AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
    sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
    sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
    count(*) FILTER (WHERE output_tokens IS NULL) AS calls_without_usage
FROM asked
LEFT JOIN ranked
    ON ranked.provider IS NOT DISTINCT FROM asked.provider
    AND ranked.model IS NOT DISTINCT FROM asked.model
GROUP BY ALL
ORDER BY ALL;

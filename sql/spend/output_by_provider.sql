-- Which providers the output came from, who billed it, and how much of it was reasoning.
-- grain: one row per provider and billed_by of the leading ones, and one for all others (place is null)
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many pairs lead, 20 by default)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split, as in totals; a share stands beside its
-- coverage, the part of the output over which it is taken. A null billed_by: nobody but the provider is known to bill.
WITH
    pairs AS (
        SELECT
            provider,
            billed_by,
            sum(input_tokens) AS input_tokens,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
            sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
            sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
            count(*) FILTER (WHERE output_tokens IS NULL) AS calls_without_usage,
            sum(cost_reported_usd) AS cost_reported_usd,
            count(cost_reported_usd) AS calls_with_cost
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY provider, billed_by
    ),

    ranked AS (
        SELECT
            *,
            row_number() OVER (ORDER BY output_tokens DESC NULLS LAST, calls DESC, provider, billed_by) AS rank,
            rank <= coalesce(getvariable('top')::INTEGER, 20) AS leads
        FROM pairs
    )

SELECT
    CASE WHEN leads THEN rank END AS place,
    CASE WHEN leads THEN ranked.provider END AS provider,
    CASE WHEN leads THEN ranked.billed_by END AS billed_by,
    count(*) AS pairs,
    sum(calls)::BIGINT AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_in_output) AS reasoning_in_output,
    sum(rest_of_output) AS rest_of_output,
    sum(output_not_split) AS output_not_split,
    round(sum(reasoning_in_output) / nullif(sum(reasoning_in_output) + sum(rest_of_output), 0), 4) AS reasoning_share,
    round(
        coalesce(sum(reasoning_in_output) + sum(rest_of_output), 0) / nullif(sum(output_tokens), 0), 4
    ) AS reasoning_coverage,
    sum(calls_without_usage)::BIGINT AS calls_without_usage,
    sum(cost_reported_usd) AS cost_reported_usd,
    sum(calls_with_cost)::BIGINT AS calls_with_cost
FROM ranked
GROUP BY ALL
ORDER BY place NULLS LAST;

-- Which models the output came from, how much of it was reasoning, and what was paid for no answer.
-- grain: one row per provider and model of the leading ones, and one for all others (place is null)
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many models lead, 20 by default)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split, as in totals; a share stands beside its
-- coverage, the part of the output over which it is taken.
WITH
    asked AS (
        SELECT *
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    ),

    models AS (
        SELECT
            provider,
            model,
            row_number() OVER (ORDER BY sum(output_tokens) DESC NULLS LAST, count(*) DESC, provider, model) AS rank,
            rank <= coalesce(getvariable('top')::INTEGER, 20) AS leads
        FROM asked
        GROUP BY provider, model
    )

SELECT
    CASE WHEN leads THEN rank END AS place,
    CASE WHEN leads THEN models.provider END AS provider,
    CASE WHEN leads THEN models.model END AS model,
    count(DISTINCT rank) AS models,
    count(*) AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
    sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
    sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
    round(reasoning_in_output / nullif(reasoning_in_output + rest_of_output, 0), 4) AS reasoning_share,
    round(coalesce(reasoning_in_output + rest_of_output, 0) / nullif(sum(output_tokens), 0), 4) AS reasoning_coverage,
    count(*) FILTER (WHERE thinking_form IS NOT NULL AND reasoning_tokens IS NULL) AS thinking_calls_without_count,
    count(*) FILTER (WHERE finish_reason = 'length' AND answer_chars IS NULL) AS cut_off_without_answer,
    sum(cost_reported_usd) AS cost_reported_usd,
    count(cost_reported_usd) AS calls_with_cost
FROM asked
JOIN models
    ON models.provider IS NOT DISTINCT FROM asked.provider
    AND models.model IS NOT DISTINCT FROM asked.model
GROUP BY ALL
ORDER BY place NULLS LAST;

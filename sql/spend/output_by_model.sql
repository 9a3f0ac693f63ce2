-- Which models the output came from, how much of it was reasoning, and what was paid for no answer.
-- grain: one row per provider and model of the leading ones, and one for all others (place is null)
-- reads: calls
-- parameters: since, until (dates, both inclusive); top (how many models lead, 20 by default)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split, as in totals; a share stands beside its
-- coverage, the part of the output over which it is taken.
WITH
    models AS (
        SELECT
            provider,
            model,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
            sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
            sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
            count(*) FILTER (WHERE thinking_form IS NOT NULL AND reasoning_tokens IS NULL)
                AS thinking_calls_without_count,
            count(*) FILTER (WHERE finish_reason = 'length' AND answer_chars IS NULL) AS cut_off_without_answer,
            sum(cost_reported_usd) AS cost_reported_usd,
            count(cost_reported_usd) AS calls_with_cost
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY provider, model
    ),

    ranked AS (
        SELECT
            *,
            row_number() OVER (ORDER BY output_tokens DESC NULLS LAST, calls DESC, provider, model) AS rank,
            rank <= coalesce(getvariable('top')::INTEGER, 20) AS leads
        FROM models
    )

SELECT
    CASE WHEN leads THEN rank END AS place,
    CASE WHEN leads THEN ranked.provider END AS provider,
    CASE WHEN leads THEN ranked.model END AS model,
    count(*) AS models,
    sum(calls)::BIGINT AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_in_output) AS reasoning_in_output,
    sum(rest_of_output) AS rest_of_output,
    sum(output_not_split) AS output_not_split,
    round(sum(reasoning_in_output) / nullif(sum(reasoning_in_output) + sum(rest_of_output), 0), 4) AS reasoning_share,
    round(
        coalesce(sum(reasoning_in_output) + sum(rest_of_output), 0) / nullif(sum(output_tokens), 0), 4
    ) AS reasoning_coverage,
    sum(thinking_calls_without_count)::BIGINT AS thinking_calls_without_count,
    sum(cut_off_without_answer)::BIGINT AS cut_off_without_answer,
    sum(cost_reported_usd) AS cost_reported_usd,
    sum(calls_with_cost)::BIGINT AS calls_with_cost
FROM ranked
GROUP BY ALL
ORDER BY place NULLS LAST;

-- What share of the output spend is reasoning: of everything, and of each model.
-- grain: one row for all calls, then one per provider, billed_by and model
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- output_cost_usd = reasoning_cost_usd + answer_cost_usd + not_split_cost_usd, at list or contract prices (a reported
-- cost has no parts). reasoning_share is taken over the output that the counts split; split_coverage is that output's
-- part of the priced output in dollars, priced_coverage the priced output's part of all output in tokens. A call
-- without an output count is in neither: calls_without_usage. Answers out of a gateway's cache are not spend.
WITH
    models AS (
        SELECT
            provider,
            billed_by,
            model,
            count(*) AS calls,
            count(*) - count(output_tokens) AS calls_without_usage,
            sum(output_tokens) AS output_tokens,
            sum(output_tokens) FILTER (WHERE output_cost_usd IS NOT NULL) AS priced_output_tokens,
            sum(output_cost_usd) AS output_cost_usd,
            sum(reasoning_cost_usd) AS reasoning_cost_usd,
            sum(answer_cost_usd) AS answer_cost_usd,
            sum(output_cost_usd) FILTER (WHERE reasoning_cost_usd IS NULL) AS not_split_cost_usd
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    )

SELECT
    CASE WHEN grouping(model) = 1 THEN 'all' ELSE 'model' END AS level,
    provider,
    billed_by,
    model,
    sum(calls) AS calls,
    sum(output_tokens) AS output_tokens,
    sum(output_cost_usd) AS output_cost_usd,
    sum(reasoning_cost_usd) AS reasoning_cost_usd,
    sum(answer_cost_usd) AS answer_cost_usd,
    sum(not_split_cost_usd) AS not_split_cost_usd,
    round(
        sum(reasoning_cost_usd)::DOUBLE / nullif((sum(reasoning_cost_usd) + sum(answer_cost_usd))::DOUBLE, 0), 4
    ) AS reasoning_share,
    round(
        coalesce(sum(reasoning_cost_usd) + sum(answer_cost_usd), 0)::DOUBLE
        / nullif(sum(output_cost_usd)::DOUBLE, 0), 4
    ) AS split_coverage,
    round(coalesce(sum(priced_output_tokens), 0) / nullif(sum(output_tokens), 0), 4) AS priced_coverage,
    sum(calls_without_usage) AS calls_without_usage
FROM models
GROUP BY GROUPING SETS ((), (provider, billed_by, model))
ORDER BY level, output_cost_usd DESC NULLS LAST, provider, billed_by, model;

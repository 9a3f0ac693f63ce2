-- What was spent by day, provider, model and applied effort.
-- grain: one row per date, provider, billed_by, model and applied effort
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- cost_usd adds up the calls whose cost is known; cost_coverage is their part of all calls, and the cost of the others
-- is not zero. The parts of a cost are at list or contract prices: a reported cost has none. An answer out of a
-- gateway's own cache costs nothing and has no parts here. A null effort is not known.
SELECT
    date,
    provider,
    billed_by,
    model,
    effort_applied,
    count(*) AS calls,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens,
    sum(cost_usd) AS cost_usd,
    sum(output_cost_usd) FILTER (WHERE cache_hit IS NOT TRUE) AS output_cost_usd,
    sum(reasoning_cost_usd) FILTER (WHERE cache_hit IS NOT TRUE) AS reasoning_cost_usd,
    count(*) - count(cost_usd) AS calls_without_cost,
    round(count(cost_usd) / count(*), 4) AS cost_coverage
FROM call_costs
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY date, cost_usd DESC NULLS LAST, provider, billed_by, model, effort_applied;

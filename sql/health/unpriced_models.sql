-- Which models have no price, and how much traffic that leaves without a cost.
-- grain: one row per provider, billed_by, model, price rule and tier
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- A cost that is reported is known even without a price: calls_without_cost are those that have neither. price_rule
-- says how far the search for a price came; a contract price (thinkledger prices --from FILE) fills any gap.
SELECT
    provider,
    billed_by,
    model,
    price_rule,
    tier_used,
    count(*) AS calls,
    count(*) - count(cost_usd) AS calls_without_cost,
    sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens,
    count(*) FILTER (WHERE input_tokens IS NULL OR output_tokens IS NULL) AS calls_without_usage,
    min(date) AS first_date,
    max(date) AS last_date
FROM call_costs
WHERE price_id IS NULL
    AND cache_hit IS NOT TRUE
    AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY calls_without_cost DESC, calls DESC, provider, billed_by, model, price_rule, tier_used;

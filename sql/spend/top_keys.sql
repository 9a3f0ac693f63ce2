-- Which API keys cost the most.
-- grain: one row per key of the dearest, the dearest first
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); top (how many, 20 by default)
--
-- A key's cost is what its calls with a known cost add up to; share_of_cost is its part of the known cost of all
-- calls, with a key or without, and cost_coverage the part of its calls whose cost is known.
WITH
    keys AS (
        SELECT
            api_key_id,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) AS reasoning_tokens,
            sum(cost_usd) AS cost_usd,
            count(cost_usd) AS calls_with_cost,
            min(called_at) AS first_call,
            max(called_at) AS last_call
        FROM call_costs
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY api_key_id
    )

SELECT
    api_key_id,
    calls,
    first_call,
    last_call,
    output_tokens,
    reasoning_tokens,
    cost_usd,
    round(cost_usd::DOUBLE / nullif((SELECT sum(cost_usd) FROM keys)::DOUBLE, 0), 4) AS share_of_cost,
    round(calls_with_cost / calls, 4) AS cost_coverage
FROM keys
WHERE api_key_id IS NOT NULL
ORDER BY cost_usd DESC NULLS LAST, calls DESC, api_key_id
LIMIT coalesce(getvariable('top')::INTEGER, 20);

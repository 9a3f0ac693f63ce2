-- Which single calls cost far more than is usual for their model.
-- grain: one row per call, those that exceed the usual the most first
-- reads: call_costs, calls
-- parameters: since, until (dates, both inclusive; the newest 7 days by default); times (how many times the mean is far,
-- 10 by default); top (how many, 20 by default)
--
-- Usual is the mean cost of the model's calls with a known cost; a model with fewer than 20 of them has no usual cost,
-- and a call without a known cost cannot be an outlier: thus calls_of_model and cost_coverage.
WITH
    days AS (
        SELECT
            coalesce(getvariable('since')::DATE, coalesce(getvariable('until')::DATE, max(date)) - 6) AS since,
            coalesce(getvariable('until')::DATE, max(date)) AS until
        FROM calls
    ),

    models AS (
        SELECT
            provider,
            billed_by,
            model,
            count(*) AS calls_of_model,
            round(count(cost_usd) / count(*), 4) AS cost_coverage,
            avg(cost_usd::DOUBLE) AS mean_cost_usd,
            -- What exceeds its model's mean the most is among the dearest of its model.
            arg_max(
                {
                    'call_id': call_id,
                    'called_at': called_at,
                    'effort_applied': effort_applied,
                    'session_id': session_id,
                    'user_id': user_id,
                    'input_tokens': input_tokens,
                    'output_tokens': output_tokens,
                    'reasoning_tokens': reasoning_tokens,
                    'cost_usd': cost_usd,
                    'cost_source': cost_source
                },
                cost_usd,
                coalesce(getvariable('top')::INTEGER, 20)
            ) AS dearest
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND date >= (SELECT since FROM days)
            AND date <= (SELECT until FROM days)
        GROUP BY provider, billed_by, model
        HAVING count(cost_usd) >= 20
    )

SELECT
    call.call_id,
    call.called_at,
    provider,
    billed_by,
    model,
    call.effort_applied,
    call.session_id,
    call.user_id,
    call.input_tokens,
    call.output_tokens,
    call.reasoning_tokens,
    call.cost_usd,
    call.cost_source,
    round(mean_cost_usd, 8) AS mean_cost_usd,
    round(call.cost_usd::DOUBLE / mean_cost_usd, 1) AS times_the_mean,
    calls_of_model,
    cost_coverage
FROM (SELECT *, unnest(dearest) AS call FROM models) AS models
WHERE models.mean_cost_usd > 0
    AND call.cost_usd::DOUBLE >= coalesce(getvariable('times')::DOUBLE, 10) * models.mean_cost_usd
ORDER BY call.cost_usd::DOUBLE / models.mean_cost_usd DESC, call.call_id
LIMIT coalesce(getvariable('top')::INTEGER, 20);

-- Which single calls cost far more than is usual for their model.
-- grain: one row per call, those that exceed the usual the most first
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); times (how many times the mean is far, 10 by default); top (how
-- many, 20 by default)
--
-- Usual is the mean cost of the model's calls with a known cost; a model with fewer than 20 of them has no usual cost,
-- and a call without a known cost cannot be an outlier: thus calls_of_model and cost_coverage.
WITH
    known AS (
        SELECT *
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    ),

    models AS (
        SELECT
            provider,
            billed_by,
            model,
            count(*) AS calls_of_model,
            round(count(cost_usd) / count(*), 4) AS cost_coverage,
            avg(cost_usd::DOUBLE) AS mean_cost_usd
        FROM known
        GROUP BY ALL
        HAVING count(cost_usd) >= 20
    )

SELECT
    call_id,
    called_at,
    known.provider,
    known.billed_by,
    known.model,
    effort_applied,
    session_id,
    user_id,
    input_tokens,
    output_tokens,
    reasoning_tokens,
    cost_usd,
    cost_source,
    round(mean_cost_usd, 8) AS mean_cost_usd,
    round(cost_usd::DOUBLE / mean_cost_usd, 1) AS times_the_mean,
    calls_of_model,
    cost_coverage
FROM known
JOIN models
    ON models.provider IS NOT DISTINCT FROM known.provider
    AND models.billed_by IS NOT DISTINCT FROM known.billed_by
    AND models.model IS NOT DISTINCT FROM known.model
WHERE mean_cost_usd > 0
    AND cost_usd::DOUBLE >= coalesce(getvariable('times')::DOUBLE, 10) * mean_cost_usd
ORDER BY cost_usd::DOUBLE / mean_cost_usd DESC, call_id
LIMIT coalesce(getvariable('top')::INTEGER, 20);

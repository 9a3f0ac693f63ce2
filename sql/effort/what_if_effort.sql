-- What if calls had run at a lower effort: at what the same model's calls at that effort did cost.
-- grain: one row per provider, billed_by, model and applied effort above the one to compare with
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); to_effort (the effort to compare with, low by default)
--
-- Only the output's cost depends on the effort: saved_usd is that of the calls less as many times the mean at the other
-- effort, at list or contract prices. Calls at a lower effort are easier ones, so this is an upper bound of what a
-- lower effort saves, and it says nothing of what the answers would have been. Null where the model has no priced call
-- at the other effort: calls_at_other; priced_coverage is the part of the calls that has an output cost.
WITH
    efforts AS (
        SELECT
            provider,
            billed_by,
            model,
            effort_applied,
            list_position(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], effort_applied) AS effort_place,
            count(*) AS calls,
            count(output_cost_usd) AS calls_with_cost,
            sum(output_cost_usd) AS output_cost_usd
        FROM call_costs
        WHERE effort_applied IS NOT NULL
            AND cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    )

SELECT
    dear.provider,
    dear.billed_by,
    dear.model,
    dear.effort_applied,
    dear.calls,
    round(dear.calls_with_cost / dear.calls, 4) AS priced_coverage,
    dear.output_cost_usd,
    round(dear.output_cost_usd::DOUBLE / nullif(dear.calls_with_cost, 0), 8) AS mean_output_cost_usd,
    coalesce(getvariable('to_effort'), 'low') AS other_effort,
    coalesce(cheap.calls_with_cost, 0) AS calls_at_other,
    round(cheap.output_cost_usd::DOUBLE / nullif(cheap.calls_with_cost, 0), 8) AS mean_at_other_usd,
    round(
        dear.output_cost_usd::DOUBLE
        - dear.calls_with_cost * (cheap.output_cost_usd::DOUBLE / nullif(cheap.calls_with_cost, 0)), 6
    ) AS saved_usd
FROM efforts AS dear
LEFT JOIN efforts AS cheap
    ON cheap.effort_applied = coalesce(getvariable('to_effort'), 'low')
    AND cheap.provider IS NOT DISTINCT FROM dear.provider
    AND cheap.billed_by IS NOT DISTINCT FROM dear.billed_by
    AND cheap.model IS NOT DISTINCT FROM dear.model
WHERE dear.effort_place
    > list_position(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], coalesce(getvariable('to_effort'), 'low'))
ORDER BY saved_usd DESC NULLS LAST, dear.provider, dear.billed_by, dear.model, dear.effort_place;

-- What a call costs and how much it reasons at each applied effort of the same model.
-- grain: one row per provider, billed_by, model and applied effort, from the least effort to the most
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- Means are taken over the calls that report the count or have a cost; the columns beside them say how many those are.
-- cost_to_least is the mean cost over that of the model's least effort that has one. A null effort is not known. Teams
-- ask for more effort where the work is harder: a difference is what was spent, not what the effort alone caused.
-- Answers out of a gateway's cache are left out.
WITH efforts AS (
    SELECT
        provider,
        billed_by,
        model,
        effort_applied,
        list_position(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], effort_applied) AS effort_place,
        count(*) AS calls,
        count(reasoning_tokens) AS calls_with_count,
        sum(reasoning_tokens) AS reasoning_tokens,
        count(cost_usd) AS calls_with_cost,
        sum(cost_usd) AS cost_usd,
        sum(output_cost_usd) AS output_cost_usd,
        sum(reasoning_cost_usd) AS reasoning_cost_usd
    FROM call_costs
    WHERE cache_hit IS NOT TRUE
        AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
        AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    GROUP BY provider, billed_by, model, effort_applied
)

SELECT
    provider,
    billed_by,
    model,
    effort_applied,
    calls,
    calls_with_count,
    round(reasoning_tokens / nullif(calls_with_count, 0), 1) AS mean_reasoning_tokens,
    calls_with_cost,
    cost_usd,
    output_cost_usd,
    reasoning_cost_usd,
    round(cost_usd::DOUBLE / nullif(calls_with_cost, 0), 8) AS mean_cost_usd,
    round(
        (cost_usd::DOUBLE / nullif(calls_with_cost, 0))
        / nullif(
            first_value(CASE WHEN effort_place > 0 THEN cost_usd::DOUBLE / nullif(calls_with_cost, 0) END IGNORE NULLS)
                OVER (
                    PARTITION BY provider, billed_by, model
                    ORDER BY effort_place NULLS LAST
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
                ),
            0
        ),
        2
    ) AS cost_to_least
FROM efforts
ORDER BY sum(calls) OVER (PARTITION BY provider, billed_by, model) DESC, provider, billed_by, model, effort_place NULLS LAST;

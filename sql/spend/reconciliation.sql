-- How the reported costs compare with the list's or the contract's: where they differ, one of them is wrong.
-- grain: one row per provider, billed_by, model, price rule and whether an override set the price
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); tolerance (how far apart two costs may be, 0.01 by default: 1%)
--
-- Compared are the calls that have both costs; compared_coverage is their part of the calls that report one. A call
-- with only one of the two, or with neither, is counted beside. Answers out of a gateway's cache are left out: they
-- are not billed, whatever a price table says.
SELECT
    provider,
    billed_by,
    model,
    price_rule,
    price_overridden,
    count(*) AS calls,
    count(*) FILTER (WHERE cost_reported_usd IS NOT NULL AND list_cost_usd IS NOT NULL) AS calls_compared,
    count(*) FILTER (WHERE cost_reported_usd IS NOT NULL AND list_cost_usd IS NULL) AS calls_only_reported,
    count(*) FILTER (WHERE cost_reported_usd IS NULL AND list_cost_usd IS NOT NULL) AS calls_only_listed,
    count(*) FILTER (WHERE cost_reported_usd IS NULL AND list_cost_usd IS NULL) AS calls_with_neither,
    sum(cost_reported_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS reported_usd,
    sum(list_cost_usd) FILTER (WHERE cost_reported_usd IS NOT NULL) AS list_usd,
    reported_usd - list_usd AS difference_usd,
    round(difference_usd::DOUBLE / nullif(list_usd::DOUBLE, 0), 4) AS difference_share,
    count(*) FILTER (
        WHERE abs(cost_reported_usd - list_cost_usd)::DOUBLE
            > coalesce(getvariable('tolerance')::DOUBLE, 0.01) * abs(list_cost_usd)::DOUBLE
    ) AS calls_apart,
    round(calls_compared / nullif(count(cost_reported_usd), 0), 4) AS compared_coverage
FROM call_costs
WHERE cache_hit IS NOT TRUE
    AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY abs(difference_usd) DESC NULLS LAST, calls DESC, provider, billed_by, model, price_rule, price_overridden;

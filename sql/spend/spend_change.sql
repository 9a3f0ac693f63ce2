-- Why the spend changed from one period to the next: more traffic, another mix, or other prices.
-- grain: one row for everything, then one per provider, billed_by, model and tier
-- reads: call_costs
-- parameters: since, until (the later period, both inclusive; the newest 30 days by default); before_since,
-- before_until (the earlier period; by default as many days, right before it)
--
-- after_usd - before_usd = volume_usd + mix_usd + rate_usd, at list or contract prices. An item is one kind of token
-- (input, cached input, cache write, output) of one model and tier; its rate is its cost over its tokens. volume: all
-- items grown alike, as the whole did, at their old rates. mix: their tokens beyond that, at the old rates, or at the
-- new ones where an item is new. rate: the new tokens times the change of the rate. priced_coverage is the part of the
-- tokens that has a price, in the earlier and in the later period; what has none is in no figure, and a model with
-- calls but no price has no figure at all. A period without calls cost 0. Fees per request are an item by the call.
WITH
    newest AS (
        SELECT coalesce(getvariable('until')::DATE, max(date)) AS until FROM calls
    ),

    later AS (
        SELECT until, coalesce(getvariable('since')::DATE, until - 29) AS since FROM newest
    ),

    periods AS (
        SELECT
            since,
            until,
            coalesce(getvariable('before_until')::DATE, since - 1) AS before_until,
            coalesce(
                getvariable('before_since')::DATE,
                coalesce(getvariable('before_until')::DATE, since - 1) - (until - since)::INTEGER
            ) AS before_since
        FROM later
    ),

    sums AS (
        SELECT
            provider,
            billed_by,
            model,
            tier_used,
            date BETWEEN since AND until AS is_later,
            count(*) AS calls,
            sum(input_tokens + output_tokens) AS all_tokens,
            sum(input_tokens + output_tokens) FILTER (WHERE list_cost_usd IS NOT NULL) AS priced_tokens,
            count(*) FILTER (WHERE list_cost_usd IS NOT NULL) AS priced_calls,
            sum(
                input_tokens - coalesce(cached_input_tokens, 0)
                - greatest(coalesce(cache_write_tokens, 0), coalesce(cache_write_1h_tokens, 0))
            ) FILTER (WHERE list_cost_usd IS NOT NULL) AS uncached,
            sum(cached_input_tokens) FILTER (WHERE list_cost_usd IS NOT NULL) AS cached,
            sum(greatest(cache_write_tokens, cache_write_1h_tokens)) FILTER (WHERE list_cost_usd IS NOT NULL)
                AS written,
            sum(output_tokens) FILTER (WHERE list_cost_usd IS NOT NULL) AS output,
            sum(list_cost_usd) AS list_cost_usd,
            sum(input_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS input_cost_usd,
            sum(cached_input_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS cached_input_cost_usd,
            sum(cache_write_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS cache_write_cost_usd,
            sum(output_cost_usd) FILTER (WHERE list_cost_usd IS NOT NULL) AS output_cost_usd
        FROM call_costs, periods
        WHERE cache_hit IS NOT TRUE
            AND (date BETWEEN since AND until OR date BETWEEN before_since AND before_until)
        GROUP BY ALL
    ),

    items AS (
        SELECT
            provider,
            billed_by,
            model,
            tier_used,
            item.kind,
            sum(item.tokens) FILTER (WHERE NOT is_later)::DOUBLE AS tokens_before,
            sum(item.tokens) FILTER (WHERE is_later)::DOUBLE AS tokens_after,
            sum(item.usd) FILTER (WHERE NOT is_later) AS before_usd,
            sum(item.usd) FILTER (WHERE is_later) AS after_usd
        FROM (
            SELECT
                *,
                unnest([
                    {'kind': 'input', 'tokens': uncached, 'usd': input_cost_usd},
                    {'kind': 'cached_input', 'tokens': cached, 'usd': cached_input_cost_usd},
                    {'kind': 'cache_write', 'tokens': written, 'usd': cache_write_cost_usd},
                    {'kind': 'output', 'tokens': output, 'usd': output_cost_usd},
                    {
                        'kind': 'request',
                        'tokens': priced_calls,
                        'usd': list_cost_usd - input_cost_usd - output_cost_usd
                            - coalesce(cached_input_cost_usd, 0) - coalesce(cache_write_cost_usd, 0)
                    }
                ]) AS item
            FROM sums
        )
        GROUP BY ALL
    ),

    effects AS (
        SELECT
            *,
            coalesce(tokens_before, 0) AS q0,
            coalesce(tokens_after, 0) AS q1,
            coalesce(before_usd, 0)::DOUBLE AS c0,
            coalesce(after_usd, 0)::DOUBLE AS c1,
            CASE WHEN q0 > 0 THEN c0 / q0 WHEN q1 > 0 THEN c1 / q1 ELSE 0 END AS old_rate,
            coalesce(
                sum(q1) FILTER (WHERE kind <> 'request') OVER ()
                / nullif(sum(q0) FILTER (WHERE kind <> 'request') OVER (), 0),
                1
            ) AS growth
        FROM items
    ),

    coverage AS (
        SELECT
            provider,
            billed_by,
            model,
            tier_used,
            coalesce(sum(calls) FILTER (WHERE NOT is_later), 0) AS calls_before,
            coalesce(sum(calls) FILTER (WHERE is_later), 0) AS calls_after,
            sum(all_tokens) FILTER (WHERE NOT is_later) AS all_before,
            sum(all_tokens) FILTER (WHERE is_later) AS all_after,
            sum(priced_tokens) FILTER (WHERE NOT is_later) AS priced_before,
            sum(priced_tokens) FILTER (WHERE is_later) AS priced_after
        FROM sums
        GROUP BY ALL
    ),

    models AS (
        SELECT
            provider,
            billed_by,
            model,
            tier_used,
            sum(before_usd) AS before_usd,
            sum(after_usd) AS after_usd,
            sum(q0 * (growth - 1) * old_rate) AS volume_usd,
            sum((q1 - q0 * growth) * old_rate) AS mix_usd,
            sum(c1 - q1 * old_rate) AS rate_usd
        FROM effects
        GROUP BY ALL
    )

SELECT
    CASE WHEN grouping(models.model) = 1 THEN 'all' ELSE 'model' END AS level,
    models.provider,
    models.billed_by,
    models.model,
    models.tier_used,
    sum(calls_before) AS calls_before,
    sum(calls_after) AS calls_after,
    CASE WHEN sum(calls_before) = 0 THEN 0 ELSE sum(before_usd) END::DECIMAL(38, 12) AS before_usd,
    CASE WHEN sum(calls_after) = 0 THEN 0 ELSE sum(after_usd) END::DECIMAL(38, 12) AS after_usd,
    (CASE WHEN sum(calls_after) = 0 THEN 0 ELSE sum(after_usd) END)::DECIMAL(38, 12)
        - (CASE WHEN sum(calls_before) = 0 THEN 0 ELSE sum(before_usd) END)::DECIMAL(38, 12) AS change_usd,
    CASE WHEN change_usd IS NOT NULL THEN round(sum(volume_usd), 6) + 0 END AS volume_usd,
    CASE WHEN change_usd IS NOT NULL THEN round(sum(mix_usd), 6) + 0 END AS mix_usd,
    CASE WHEN change_usd IS NOT NULL THEN round(sum(rate_usd), 6) + 0 END AS rate_usd,
    round(coalesce(sum(priced_before), 0) / nullif(sum(all_before), 0), 4) AS priced_coverage_before,
    round(coalesce(sum(priced_after), 0) / nullif(sum(all_after), 0), 4) AS priced_coverage_after
FROM models
JOIN coverage
    ON coverage.provider IS NOT DISTINCT FROM models.provider
    AND coverage.billed_by IS NOT DISTINCT FROM models.billed_by
    AND coverage.model IS NOT DISTINCT FROM models.model
    AND coverage.tier_used IS NOT DISTINCT FROM models.tier_used
GROUP BY GROUPING SETS ((), (models.provider, models.billed_by, models.model, models.tier_used))
ORDER BY level, abs(change_usd) DESC NULLS LAST, models.provider, models.billed_by, models.model, models.tier_used;

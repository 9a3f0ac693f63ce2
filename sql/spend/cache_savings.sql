-- What caches saved: the provider's prompt cache, less what writing to it cost, and the gateway's own answers.
-- grain: one row per provider, billed_by and model
-- reads: call_costs, prices
-- parameters: since, until (dates, both inclusive)
--
-- read_saved_usd is what the cached input would have cost as plain input, less what it did cost; write_extra_usd what
-- the cache writes cost above plain input (negative where a write is cheaper); saved_usd is the difference, at list or
-- contract prices. Null where no call reports a cache count, and 0 where the counts are 0. tokens_without_price are
-- cached or written tokens of calls without a price; answers_saved_usd is the list cost of the answers that a gateway
-- gave out of its own cache, and answers_without_price counts those that have none.
WITH
    rates AS (
        SELECT price_id, (any_value(input_usd) * 0.000001)::DECIMAL(18, 15) AS input_rate
        FROM prices
        GROUP BY price_id
    ),

    used AS (
        SELECT
            provider,
            billed_by,
            model,
            price_id,
            cache_hit IS TRUE AS from_gateway,
            count(*) AS calls,
            count(cached_input_tokens) AS calls_with_count,
            sum(input_tokens) FILTER (WHERE cached_input_tokens IS NOT NULL) AS counted_input_tokens,
            sum(cached_input_tokens) AS cached_input_tokens,
            sum(cached_input_cost_usd) AS cached_input_cost_usd,
            sum(greatest(cache_write_tokens, cache_write_1h_tokens)) AS cache_write_tokens,
            sum(cache_write_cost_usd) AS cache_write_cost_usd,
            count(*) - count(list_cost_usd) AS calls_without_price,
            sum(list_cost_usd) AS list_cost_usd
        FROM call_costs
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    compared AS (
        SELECT
            used.*,
            NOT from_gateway AS from_provider,
            (cached_input_tokens::BIGINT * input_rate)::DECIMAL(38, 12) - cached_input_cost_usd AS read_saved,
            cache_write_cost_usd - (cache_write_tokens::BIGINT * input_rate)::DECIMAL(38, 12) AS write_extra
        FROM used
        LEFT JOIN rates USING (price_id)
    )

SELECT
    provider,
    billed_by,
    model,
    coalesce(sum(calls) FILTER (WHERE from_provider), 0) AS calls,
    coalesce(sum(calls_with_count) FILTER (WHERE from_provider), 0) AS calls_with_count,
    sum(cached_input_tokens) FILTER (WHERE from_provider) AS cached_input_tokens,
    round(
        sum(cached_input_tokens) FILTER (WHERE from_provider)
        / nullif(sum(counted_input_tokens) FILTER (WHERE from_provider), 0), 4
    ) AS cached_share,
    round(
        sum(calls_with_count) FILTER (WHERE from_provider) / nullif(sum(calls) FILTER (WHERE from_provider), 0), 4
    ) AS cached_coverage,
    sum(cache_write_tokens) FILTER (WHERE from_provider) AS cache_write_tokens,
    sum(read_saved) FILTER (WHERE from_provider) AS read_saved_usd,
    sum(write_extra) FILTER (WHERE from_provider) AS write_extra_usd,
    CASE
        WHEN coalesce(read_saved_usd, write_extra_usd) IS NOT NULL
        THEN coalesce(read_saved_usd, 0) - coalesce(write_extra_usd, 0)
    END AS saved_usd,
    coalesce(
        sum(coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0))
            FILTER (WHERE from_provider AND read_saved IS NULL AND write_extra IS NULL),
        0
    ) AS tokens_without_price,
    coalesce(sum(calls) FILTER (WHERE from_gateway), 0) AS cached_answers,
    sum(list_cost_usd) FILTER (WHERE from_gateway) AS answers_saved_usd,
    coalesce(sum(calls_without_price) FILTER (WHERE from_gateway), 0) AS answers_without_price
FROM compared
GROUP BY ALL
ORDER BY saved_usd DESC NULLS LAST, provider, billed_by, model;

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
            count(*) FILTER (WHERE cache_hit IS NOT TRUE) AS calls,
            count(cached_input_tokens) FILTER (WHERE cache_hit IS NOT TRUE) AS calls_with_count,
            sum(input_tokens) FILTER (WHERE cache_hit IS NOT TRUE AND cached_input_tokens IS NOT NULL)
                AS counted_input_tokens,
            sum(cached_input_tokens) FILTER (WHERE cache_hit IS NOT TRUE) AS cached_input_tokens,
            sum(cached_input_cost_usd) FILTER (WHERE cache_hit IS NOT TRUE) AS cached_input_cost_usd,
            sum(greatest(cache_write_tokens, cache_write_1h_tokens)) FILTER (WHERE cache_hit IS NOT TRUE)
                AS cache_write_tokens,
            sum(cache_write_cost_usd) FILTER (WHERE cache_hit IS NOT TRUE) AS cache_write_cost_usd,
            count(*) FILTER (WHERE cache_hit) AS cached_answers,
            count(*) FILTER (WHERE cache_hit AND list_cost_usd IS NULL) AS answers_without_price,
            sum(list_cost_usd) FILTER (WHERE cache_hit) AS answers_saved_usd
        FROM call_costs
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    compared AS (
        SELECT
            used.*,
            (cached_input_tokens::BIGINT * input_rate)::DECIMAL(38, 12) - cached_input_cost_usd AS read_saved_usd,
            cache_write_cost_usd - (cache_write_tokens::BIGINT * input_rate)::DECIMAL(38, 12) AS write_extra_usd
        FROM used
        LEFT JOIN rates USING (price_id)
    )

SELECT
    provider,
    billed_by,
    model,
    sum(calls) AS calls,
    sum(calls_with_count) AS calls_with_count,
    sum(cached_input_tokens) AS cached_input_tokens,
    round(sum(cached_input_tokens) / nullif(sum(counted_input_tokens), 0), 4) AS cached_share,
    round(sum(calls_with_count) / nullif(sum(calls), 0), 4) AS cached_coverage,
    sum(cache_write_tokens) AS cache_write_tokens,
    sum(read_saved_usd) AS read_saved_usd,
    sum(write_extra_usd) AS write_extra_usd,
    CASE
        WHEN coalesce(sum(read_saved_usd), sum(write_extra_usd)) IS NOT NULL
        THEN coalesce(sum(read_saved_usd), 0) - coalesce(sum(write_extra_usd), 0)
    END AS saved_usd,
    coalesce(
        sum(coalesce(cached_input_tokens, 0) + coalesce(cache_write_tokens, 0))
            FILTER (WHERE read_saved_usd IS NULL AND write_extra_usd IS NULL),
        0
    ) AS tokens_without_price,
    sum(cached_answers) AS cached_answers,
    sum(answers_saved_usd) AS answers_saved_usd,
    sum(answers_without_price) AS answers_without_price
FROM compared
GROUP BY ALL
ORDER BY saved_usd DESC NULLS LAST, provider, billed_by, model;

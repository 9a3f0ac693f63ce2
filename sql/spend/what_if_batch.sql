-- What if the calls at the standard tier had run in batches, at the same tokens.
-- grain: one row per provider, billed_by and model
-- reads: call_costs, prices
-- parameters: since, until (dates, both inclusive)
--
-- Counted are calls at the standard tier with a list or contract cost; the batch price is that of the same model, day,
-- part of the day and band of input length. saved_usd is their list cost less the cost in batches; null where the
-- model has no batch price. A batch takes up to a day: which calls can wait, no log says. not_standard_calls ran at
-- another tier; unpriced_calls at the standard one have no price; batch_coverage is the part of the list cost for
-- which there is a batch price. An overridden price is a published discount that the price package does not know.
WITH
    used AS (
        SELECT
            provider,
            billed_by,
            model,
            price_id,
            date,
            tier_used = 'default' AS standard,
            list_cost_usd IS NOT NULL AS priced,
            count(*) AS calls,
            sum(list_cost_usd) AS list_cost_usd,
            sum(
                input_tokens - coalesce(cached_input_tokens, 0)
                - greatest(coalesce(cache_write_tokens, 0), coalesce(cache_write_1h_tokens, 0))
            )::BIGINT AS uncached,
            sum(coalesce(cached_input_tokens, 0))::BIGINT AS cached,
            sum(greatest(coalesce(cache_write_tokens, 0), coalesce(cache_write_1h_tokens, 0)))::BIGINT AS written,
            sum(coalesce(cache_write_1h_tokens, 0))::BIGINT AS written_1h,
            sum(output_tokens)::BIGINT AS output,
            coalesce(sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens), 0)::BIGINT AS reasoning
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    batches AS (
        SELECT
            standard.price_id,
            batch.valid_from,
            batch.valid_to,
            batch.overridden,
            (batch.input_usd * 0.000001)::DECIMAL(18, 15) AS input_rate,
            (coalesce(batch.cached_input_usd, batch.input_usd) * 0.000001)::DECIMAL(18, 15) AS cached_rate,
            (coalesce(batch.cache_write_usd, batch.input_usd) * 0.000001)::DECIMAL(18, 15) AS write_rate,
            (coalesce(batch.cache_write_1h_usd, batch.cache_write_usd, batch.input_usd) * 0.000001)::DECIMAL(18, 15)
                AS write_1h_rate,
            (batch.output_usd * 0.000001)::DECIMAL(18, 15) AS output_rate,
            (coalesce(batch.reasoning_usd, batch.output_usd) * 0.000001)::DECIMAL(18, 15) AS reasoning_rate,
            coalesce(batch.request_usd, 0) AS request_fee
        FROM prices AS standard
        JOIN prices AS batch
            ON batch.price_key = standard.price_key
            AND batch.tier = 'batch'
            AND batch.day_from <= standard.day_from
            AND batch.day_to > standard.day_from
            AND batch.input_from <= standard.input_from
            AND (batch.input_to IS NULL OR batch.input_to >= standard.input_from)
        WHERE standard.tier = 'default'
    ),

    compared AS (
        SELECT
            used.*,
            batches.overridden,
            (
                (uncached * input_rate)::DECIMAL(38, 12)
                + (cached * cached_rate)::DECIMAL(38, 12)
                + ((written - written_1h) * write_rate)::DECIMAL(38, 12)
                + (written_1h * write_1h_rate)::DECIMAL(38, 12)
                + ((output - reasoning) * output_rate)::DECIMAL(38, 12)
                + (reasoning * reasoning_rate)::DECIMAL(38, 12)
                + (calls * request_fee)::DECIMAL(38, 12)
            )::DECIMAL(38, 12) AS batch_cost_usd
        FROM used
        LEFT JOIN batches
            ON standard
            AND priced
            AND batches.price_id = used.price_id
            AND (valid_from IS NULL OR valid_from <= (used.date::TIMESTAMP AT TIME ZONE 'UTC'))
            AND (valid_to IS NULL OR valid_to > (used.date::TIMESTAMP AT TIME ZONE 'UTC'))
    )

SELECT
    provider,
    billed_by,
    model,
    coalesce(sum(calls) FILTER (WHERE standard AND priced), 0) AS calls,
    sum(list_cost_usd) FILTER (WHERE standard AND priced) AS list_cost_usd,
    sum(batch_cost_usd) AS batch_cost_usd,
    sum(list_cost_usd - batch_cost_usd) AS saved_usd,
    round(
        coalesce(sum(list_cost_usd) FILTER (WHERE batch_cost_usd IS NOT NULL), 0)::DOUBLE
        / nullif(sum(list_cost_usd) FILTER (WHERE standard AND priced)::DOUBLE, 0), 4
    ) AS batch_coverage,
    coalesce(bool_or(overridden), false) AS price_overridden,
    coalesce(sum(calls) FILTER (WHERE NOT standard), 0) AS not_standard_calls,
    coalesce(sum(calls) FILTER (WHERE standard AND NOT priced), 0) AS unpriced_calls
FROM compared
GROUP BY ALL
ORDER BY saved_usd DESC NULLS LAST, list_cost_usd DESC NULLS LAST, provider, billed_by, model;

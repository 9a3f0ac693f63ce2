-- What if the same tokens had gone to another model.
-- grain: one row per provider, billed_by and model
-- reads: call_costs, prices
-- parameters: to_model (required: the other model, by the price table's name), to_provider (whose price; the first by
-- name where several sell it); since, until (dates, both inclusive); model (only this model's calls)
--
-- The other model's price is that of the call's own moment, tier and input length. Counted are calls that have a list
-- or contract cost: both costs are of the calls that the other model has a price for, other_coverage is their part of
-- the list cost, and unpriced_calls have no cost to compare. Another model's tokenizer counts otherwise, and it would
-- have reasoned and answered more or less: the tokens are the same by supposition only.
WITH
    others AS (
        SELECT
            provider,
            model,
            tier,
            coalesce(epoch_us(valid_from), -9_000_000_000_000_000_000) AS since_us,
            coalesce(epoch_us(valid_to), 9_000_000_000_000_000_000) AS until_us,
            day_from,
            day_to,
            input_from,
            coalesce(input_to, 9_000_000_000_000_000_000) AS input_to,
            (input_usd * 0.000001)::DECIMAL(18, 15) AS input_rate,
            (coalesce(cached_input_usd, input_usd) * 0.000001)::DECIMAL(18, 15) AS cached_rate,
            (coalesce(cache_write_usd, input_usd) * 0.000001)::DECIMAL(18, 15) AS write_rate,
            (coalesce(cache_write_1h_usd, cache_write_usd, input_usd) * 0.000001)::DECIMAL(18, 15) AS write_1h_rate,
            (output_usd * 0.000001)::DECIMAL(18, 15) AS output_rate,
            (coalesce(reasoning_usd, output_usd) * 0.000001)::DECIMAL(18, 15) AS reasoning_rate,
            coalesce(request_usd, 0) AS request_fee,
            row_number() OVER () AS row_id
        FROM prices
        WHERE model = getvariable('to_model')
            AND provider = coalesce(
                getvariable('to_provider'), (SELECT min(provider) FROM prices WHERE model = getvariable('to_model'))
            )
    ),

    used AS (
        SELECT
            call_costs.provider,
            call_costs.billed_by,
            call_costs.model,
            row_id,
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
        LEFT JOIN others
            ON others.tier = call_costs.tier_used
            AND others.since_us <= epoch_us(called_at)
            AND others.until_us > epoch_us(called_at)
            AND others.day_from <= (epoch_us(called_at) // 1_000_000) % 86_400
            AND others.day_to > (epoch_us(called_at) // 1_000_000) % 86_400
            AND others.input_from <= input_tokens
            AND others.input_to >= input_tokens
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('model') IS NULL OR call_costs.model = getvariable('model'))
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    ),

    compared AS (
        SELECT
            used.*,
            (
                (uncached * input_rate)::DECIMAL(38, 12)
                + (cached * cached_rate)::DECIMAL(38, 12)
                + ((written - written_1h) * write_rate)::DECIMAL(38, 12)
                + (written_1h * write_1h_rate)::DECIMAL(38, 12)
                + ((output - reasoning) * output_rate)::DECIMAL(38, 12)
                + (reasoning * reasoning_rate)::DECIMAL(38, 12)
                + (calls * request_fee)::DECIMAL(38, 12)
            )::DECIMAL(38, 12) AS other_cost_usd
        FROM used
        LEFT JOIN others ON priced AND others.row_id = used.row_id
    )

SELECT
    provider,
    billed_by,
    model,
    coalesce(sum(calls) FILTER (WHERE priced), 0) AS calls,
    (SELECT any_value(provider) FROM others) AS other_provider,
    getvariable('to_model')::VARCHAR AS other_model,
    sum(list_cost_usd) FILTER (WHERE other_cost_usd IS NOT NULL) AS list_cost_usd,
    sum(other_cost_usd) AS other_cost_usd,
    sum(list_cost_usd - other_cost_usd) AS saved_usd,
    round(
        coalesce(sum(list_cost_usd) FILTER (WHERE other_cost_usd IS NOT NULL), 0)::DOUBLE
        / nullif(sum(list_cost_usd)::DOUBLE, 0), 4
    ) AS other_coverage,
    coalesce(sum(calls) FILTER (WHERE NOT priced), 0) AS unpriced_calls
FROM compared
GROUP BY ALL
ORDER BY saved_usd DESC NULLS LAST, calls DESC, provider, billed_by, model;

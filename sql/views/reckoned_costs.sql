-- What every call cost: reported by who billed it, else by the contract's or the list's prices of its day.
-- grain: one row per row of calls
-- reads: uncosted_calls (no text column), model_map, prices
--
-- All money is in US dollars, DECIMAL(38, 12); null is "not known", never zero. The parts add up to list_cost_usd, which
-- stands beside a reported cost; cost_usd is the reported one where there is one, and 0 for an answer out of a gateway's
-- own cache. A part is null where the call reports no such tokens; the whole is null where the model, its tier or its
-- day has no price, where the call reports no input or no output, and where the provider also charges by the request:
-- how much depends on what no call tells (how far a search went). reasoning_cost_usd and answer_cost_usd are null where
-- the output cannot be split, output_cost_usd is known even then.
CREATE VIEW reckoned_costs AS
WITH
    -- Every bound is a plain number, so that the join is one hash join; a call without a time has the time that only
    -- rows without dates hold.
    listed AS (
        SELECT
            *,
            [
                input_usd,
                coalesce(cached_input_usd, input_usd),
                coalesce(cache_write_usd, input_usd),
                coalesce(cache_write_1h_usd, cache_write_usd, input_usd),
                output_usd,
                coalesce(reasoning_usd, output_usd)
            ] AS per_million,
            list_bool_or(list_transform(per_million, lambda rate: rate <> round(rate, 6))) AS fine,
            list_transform(
                per_million,
                lambda rate: (rate::DECIMAL(38, 9) * CASE WHEN fine THEN 1_000_000_000 ELSE 1_000_000 END)::BIGINT
            ) AS per_token
        FROM prices
    ),

    rates AS (
        SELECT
            price_key,
            tier,
            coalesce(epoch_us(valid_from), -9_000_000_000_000_000_000) AS since_us,
            CASE
                WHEN valid_from IS NULL AND valid_to IS NULL AND day_from = 0 AND day_to = 86_400
                THEN 9_000_000_000_000_000_000
                ELSE coalesce(epoch_us(valid_to), 8_000_000_000_000_000_000) - 1
            END AS last_us,
            day_from * 1_000_000::BIGINT AS day_from_us,
            day_to * 1_000_000::BIGINT - 1 AS day_last_us,
            input_from,
            coalesce(input_to, 1_000_000_000) AS input_to,
            fine,
            per_token[1] AS input_rate,
            per_token[2] AS cached_input_rate,
            per_token[3] AS cache_write_rate,
            per_token[4] AS cache_write_1h_rate,
            per_token[5] AS output_rate,
            per_token[6] AS reasoning_rate,
            CASE WHEN request_usd IS NULL THEN 0 END AS request_cost,
            price_id,
            price_version,
            overridden,
            basis
        FROM listed
    ),

    tiered AS (
        SELECT
            *,
            coalesce(epoch_us(called_at), 9_000_000_000_000_000_000) AS called_us,
            coalesce(epoch_us(called_at) % 86_400_000_000, 0) AS called_us_of_day,
            CASE
                WHEN is_batch THEN 'batch'
                WHEN service_tier = 'default' OR coalesce(service_tier, service_tier_requested) IS NULL THEN 'default'
                ELSE coalesce(standard_tier(service_tier), standard_tier(service_tier_requested), 'default')
            END AS tier_used,
            CASE
                WHEN is_batch OR standard_tier(service_tier) IS NOT NULL THEN 'served'
                WHEN standard_tier(service_tier_requested) IS NOT NULL THEN 'asked'
                ELSE 'default'
            END AS tier_source,
            coalesce(cache_write_tokens, cache_write_1h_tokens, 0) AS written,
            coalesce(cache_write_1h_tokens, 0) AS written_1h,
            input_tokens - coalesce(cached_input_tokens, 0) - written AS uncached,
            -- No call has a thousand million tokens, or parts that are more than the whole: what such counts cost is not
            -- known. The bound (here, and where a band of input has no other) keeps the arithmetic within 64 bits.
            CASE
                WHEN
                    coalesce(
                        uncached BETWEEN 0 AND input_tokens,
                        coalesce(cached_input_tokens, 0) + written BETWEEN 0 AND 1_000_000_000
                    )
                    AND (output_tokens BETWEEN 0 AND 1_000_000_000) IS NOT FALSE
                    AND written_1h BETWEEN 0 AND written
                THEN tier_used
            END AS tier_priced
        FROM uncosted_calls
    ),

    costed AS (
        SELECT
            tiered.*,
            rates.* EXCLUDE (price_key, tier),
            coalesce(model_map.rule, 'unseen') AS price_rule,
            priced(uncached, input_rate, fine) AS input_cost,
            priced(cached_input_tokens, cached_input_rate, fine) AS cached_input_cost,
            CASE
                WHEN cache_write_tokens IS NOT NULL OR cache_write_1h_tokens IS NOT NULL
                THEN priced(written - written_1h, cache_write_rate, fine) + priced(written_1h, cache_write_1h_rate, fine)
            END AS cache_write_cost,
            CASE WHEN reasoning_tokens <= output_tokens THEN priced(reasoning_tokens, reasoning_rate, fine) END
                AS reasoning_cost,
            priced(output_tokens, output_rate, fine)
            + CASE
                WHEN reasoning_rate = output_rate OR reasoning_cost IS NULL THEN 0
                ELSE reasoning_cost - priced(reasoning_tokens, output_rate, fine)
            END AS output_cost,
            output_cost - reasoning_cost AS answer_cost,
            usd(
                input_cost + coalesce(cached_input_cost, 0) + coalesce(cache_write_cost, 0) + output_cost + request_cost
            ) AS list_cost_usd
        FROM tiered
        LEFT JOIN model_map
            ON model_map.provider IS NOT DISTINCT FROM tiered.provider
            AND model_map.billed_by IS NOT DISTINCT FROM tiered.billed_by
            AND model_map.protocol IS NOT DISTINCT FROM tiered.protocol
            AND model_map.model IS NOT DISTINCT FROM tiered.model
        LEFT JOIN rates
            ON rates.price_key = model_map.price_key
            AND rates.tier = tiered.tier_priced
            AND rates.since_us <= tiered.called_us
            AND rates.last_us >= tiered.called_us
            AND rates.day_from_us <= tiered.called_us_of_day
            AND rates.day_last_us >= tiered.called_us_of_day
            AND rates.input_from <= coalesce(tiered.input_tokens, 0)
            AND rates.input_to >= coalesce(tiered.input_tokens, 0)
    )

SELECT
    call_id,
    date,
    called_at,
    provider,
    billed_by,
    protocol,
    source,
    model,
    team,
    user_id,
    api_key_id,
    session_id,
    tags,
    finish_reason,
    error_type,
    status_code,
    thinking_form,
    effort_requested,
    effort_applied,
    effort_applied_source,
    effort_change,
    service_tier_requested,
    service_tier,
    is_batch,
    cache_hit,
    input_tokens,
    cached_input_tokens,
    cache_write_tokens,
    cache_write_1h_tokens,
    output_tokens,
    reasoning_tokens,
    reasoning_basis,
    answer_chars,
    thinking_chars,
    usd(input_cost) AS input_cost_usd,
    usd(cached_input_cost) AS cached_input_cost_usd,
    usd(cache_write_cost) AS cache_write_cost_usd,
    usd(answer_cost) AS answer_cost_usd,
    usd(reasoning_cost) AS reasoning_cost_usd,
    usd(output_cost) AS output_cost_usd,
    list_cost_usd,
    cost_reported_usd,
    CASE WHEN cache_hit THEN 0 ELSE coalesce(cost_reported_usd, list_cost_usd) END::DECIMAL(38, 12) AS cost_usd,
    CASE
        WHEN cache_hit THEN 'cache_hit'
        WHEN cost_reported_usd IS NOT NULL THEN 'reported'
        WHEN list_cost_usd IS NULL THEN 'none'
        ELSE basis
    END AS cost_source,
    price_id,
    price_rule,
    price_version,
    overridden AS price_overridden,
    tier_used,
    tier_source
FROM costed;

-- Whether money may be counted twice: calls of one response id, and calls of the same size from two sources.
-- grain: one row per sign, provider and model
-- reads: calls, call_costs
-- parameters: since, until (dates, both inclusive; the newest 7 days by default)
--
-- same_response_id: one id in several calls; small servers repeat ids, and records of one id with different texts stay
-- apart. same_size: calls of several sources with one day, model, input, output and answer length, as a gateway and its
-- client leave them under two ids. Neither proves a duplicate. extra_calls are the calls beyond one of each group,
-- mean_cost_usd is what a call of these groups costs, over those with a known cost: calls_with_cost.
WITH
    days AS (
        SELECT
            coalesce(getvariable('since')::DATE, coalesce(getvariable('until')::DATE, max(date)) - 6) AS since,
            coalesce(getvariable('until')::DATE, max(date)) AS until
        FROM calls
    ),

    ids AS (
        SELECT
            call_id,
            source,
            hash(response_id, provider) AS id_key,
            response_id IS NOT NULL AS has_id,
            hash(date, model, input_tokens, output_tokens, answer_chars) AS size_key,
            input_tokens > 0 AND output_tokens > 0 AS has_size,
            provider,
            model
        FROM calls
        WHERE date >= (SELECT since FROM days)
            AND date <= (SELECT until FROM days)
            AND cache_hit IS NOT TRUE
    ),

    signs AS (
        SELECT 'same_response_id' AS sign, call_id, id_key AS key, provider, model
        FROM ids
        WHERE has_id AND id_key IN (SELECT id_key FROM ids WHERE has_id GROUP BY id_key HAVING count(*) > 1)
        UNION ALL
        SELECT 'same_size' AS sign, call_id, size_key AS key, provider, model
        FROM ids
        WHERE has_size
            AND size_key IN (
                SELECT size_key FROM ids WHERE has_size GROUP BY size_key HAVING min(source) <> max(source)
            )
    )

SELECT
    sign,
    signs.provider,
    signs.model,
    count(DISTINCT key) AS groups,
    count(*) AS calls,
    count(*) - count(DISTINCT key) AS extra_calls,
    count(cost_usd) AS calls_with_cost,
    round(avg(cost_usd::DOUBLE), 8) AS mean_cost_usd
FROM signs
LEFT JOIN call_costs
    ON call_costs.call_id = signs.call_id
    AND call_costs.date >= (SELECT since FROM days)
    AND call_costs.date <= (SELECT until FROM days)
GROUP BY ALL
ORDER BY sign, extra_calls DESC, signs.provider, signs.model;

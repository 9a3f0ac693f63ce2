-- What an answered request costs, and what a million tokens of answer cost, by model.
-- grain: one row per provider, billed_by and model
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- usd_per_answer is the whole cost, failed calls and turns that only call tools included, over the calls that gave an
-- answer's text. usd_per_1m_answer_tokens is the whole cost, input and reasoning included, of the calls whose answer
-- tokens are known (output less reasoning), over these tokens; token_coverage is those calls' part of the cost. Calls
-- whose cost is not known are in neither: cost_coverage is the others' part of all calls.
WITH kinds AS (
    SELECT
        provider,
        billed_by,
        model,
        answer_chars > 0 AS answered,
        finish_reason = 'tool_calls' AS called_tools,
        cost_usd IS NOT NULL AS has_cost,
        reasoning_tokens <= output_tokens AS split,
        count(*) AS calls,
        sum(cost_usd) AS cost_usd,
        sum(output_tokens - reasoning_tokens) AS answer_tokens
    FROM call_costs
    WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
        AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    GROUP BY ALL
)

SELECT
    provider,
    billed_by,
    model,
    sum(calls) AS calls,
    coalesce(sum(calls) FILTER (WHERE answered), 0) AS answered_calls,
    coalesce(sum(calls) FILTER (WHERE answered IS NOT TRUE AND called_tools), 0) AS tool_turns_without_answer,
    sum(cost_usd) AS cost_usd,
    round(coalesce(sum(calls) FILTER (WHERE has_cost), 0) / sum(calls), 4) AS cost_coverage,
    round(sum(cost_usd)::DOUBLE / sum(calls) FILTER (WHERE answered AND has_cost), 8) AS usd_per_answer,
    sum(answer_tokens) FILTER (WHERE split AND has_cost) AS answer_tokens,
    round(
        1e6 * sum(cost_usd) FILTER (WHERE split)::DOUBLE
        / nullif(sum(answer_tokens) FILTER (WHERE split AND has_cost), 0), 4
    ) AS usd_per_1m_answer_tokens,
    round(
        coalesce(sum(cost_usd) FILTER (WHERE split), 0)::DOUBLE / nullif(sum(cost_usd)::DOUBLE, 0), 4
    ) AS token_coverage
FROM kinds
GROUP BY ALL
ORDER BY cost_usd DESC NULLS LAST, provider, billed_by, model;

-- What was paid for nothing: errors, aborted calls, thinking that was cut off before any answer.
-- grain: one row per kind, provider, billed_by and model
-- reads: call_costs
-- parameters: since, until (dates, both inclusive)
--
-- A call counts once, under the first kind that fits: aborted, error, cut_off_without_answer (ended by length),
-- filtered_without_answer, ended_without_answer (a plain stop without text). A null cost is not known, and an error
-- often reports no usage: calls_without_cost. share_of_cost is the part of the known cost of all calls. Answers out of a
-- gateway's cache are left out: they were not paid for. For retries see likely_retries.
WITH
    kinds AS (
        SELECT
            CASE
                WHEN finish_reason = 'aborted' THEN 'aborted'
                WHEN error_type IS NOT NULL OR finish_reason = 'error' OR status_code >= 400 THEN 'error'
                WHEN answer_chars > 0 THEN NULL
                WHEN finish_reason = 'length' THEN 'cut_off_without_answer'
                WHEN finish_reason IN ('content_filter', 'refusal') THEN 'filtered_without_answer'
                WHEN finish_reason = 'stop' THEN 'ended_without_answer'
            END AS kind,
            provider,
            billed_by,
            model,
            count(*) AS calls,
            sum(output_tokens) AS output_tokens,
            sum(reasoning_tokens) AS reasoning_tokens,
            sum(cost_usd) AS cost_usd,
            count(*) - count(cost_usd) AS calls_without_cost,
            round(count(cost_usd) / count(*), 4) AS cost_coverage
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY ALL
    )

SELECT
    *,
    round(cost_usd::DOUBLE / nullif((SELECT sum(cost_usd) FROM kinds)::DOUBLE, 0), 4) AS share_of_cost
FROM kinds
WHERE kind IS NOT NULL
ORDER BY cost_usd DESC NULLS LAST, calls DESC, kind, provider, billed_by, model;

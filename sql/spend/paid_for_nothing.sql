-- What was paid for nothing: errors, aborted calls, thinking that was cut off before any answer, likely retries.
-- grain: one row per kind, provider, billed_by and model
-- reads: call_costs
-- parameters: since, until (dates, both inclusive); retry_seconds (how soon a retry follows, 60 by default)
--
-- A call counts once, under the first kind that fits: aborted, error, cut_off_without_answer (ended by length),
-- filtered_without_answer, ended_without_answer (a plain stop without text), likely_retry. A likely retry is an inference:
-- a call that ended well and was followed, within retry_seconds, by another of the same session, model and input size.
-- A null cost is not known: calls_without_cost. Answers out of a gateway's cache are left out: they were not paid for.
WITH
    paid AS (
        SELECT
            provider,
            billed_by,
            model,
            date,
            called_at,
            session_id,
            input_tokens,
            output_tokens,
            reasoning_tokens,
            cost_usd,
            CASE
                WHEN finish_reason = 'aborted' THEN 'aborted'
                WHEN error_type IS NOT NULL OR finish_reason = 'error' OR status_code >= 400 THEN 'error'
                WHEN answer_chars > 0 OR finish_reason = 'tool_calls' THEN NULL
                WHEN finish_reason = 'length' THEN 'cut_off_without_answer'
                WHEN finish_reason IN ('content_filter', 'refusal') THEN 'filtered_without_answer'
                WHEN finish_reason = 'stop' THEN 'ended_without_answer'
            END AS fault
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    ),

    -- Few calls repeat another's size within a session: only these are put in order of time.
    repeated AS (
        SELECT hash(session_id, model, input_tokens) AS request
        FROM paid
        WHERE session_id IS NOT NULL AND input_tokens > 0 AND fault IS NULL
        GROUP BY request
        HAVING count(*) > 1
    ),

    retried AS (
        SELECT
            'likely_retry' AS kind,
            provider,
            billed_by,
            model,
            output_tokens,
            reasoning_tokens,
            cost_usd
        FROM paid
        WHERE session_id IS NOT NULL
            AND input_tokens > 0
            AND fault IS NULL
            AND hash(session_id, model, input_tokens) IN (FROM repeated)
        QUALIFY
            lead(called_at) OVER (PARTITION BY session_id, provider, model, input_tokens ORDER BY called_at)
            <= called_at + to_seconds(coalesce(getvariable('retry_seconds')::DOUBLE, 60))
    )

SELECT
    kind,
    provider,
    billed_by,
    model,
    count(*) AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) AS reasoning_tokens,
    sum(cost_usd) AS cost_usd,
    count(*) - count(cost_usd) AS calls_without_cost,
    round(count(cost_usd) / count(*), 4) AS cost_coverage
FROM (
    FROM retried
    UNION ALL BY NAME
    SELECT fault AS kind, provider, billed_by, model, output_tokens, reasoning_tokens, cost_usd
    FROM paid
    WHERE fault IS NOT NULL
)
GROUP BY ALL
ORDER BY cost_usd DESC NULLS LAST, calls DESC, kind, provider, billed_by, model;

-- What was likely paid twice: calls that were soon followed by another of the same session, model and input size.
-- grain: one row per provider, billed_by and model
-- reads: call_costs
-- parameters: since, until (dates, both inclusive; the newest 7 days by default); retry_seconds (how soon, 60 by default)
--
-- An inference: prompts are not stored, and equal sizes are no proof. Calls without a session, a time or an input count
-- cannot be judged; judged_coverage is the part of the calls that can. after_failure counts the retried calls that had
-- failed or gave no answer: these are in paid_for_nothing as well. A null cost is not known: calls_without_cost.
WITH
    days AS (
        SELECT
            coalesce(getvariable('since')::DATE, coalesce(getvariable('until')::DATE, max(date)) - 6) AS since,
            coalesce(getvariable('until')::DATE, max(date)) AS until
        FROM calls
    ),

    paid AS (
        SELECT
            provider,
            billed_by,
            model,
            called_at,
            session_id,
            input_tokens,
            output_tokens,
            cost_usd,
            session_id IS NOT NULL AND called_at IS NOT NULL AND input_tokens > 0 AS judged,
            error_type IS NOT NULL
                OR finish_reason IN ('error', 'aborted')
                OR status_code >= 400
                OR (finish_reason IS DISTINCT FROM 'tool_calls' AND answer_chars IS NULL) AS failed
        FROM call_costs
        WHERE cache_hit IS NOT TRUE
            AND date >= (SELECT since FROM days)
            AND date <= (SELECT until FROM days)
    ),

    followed AS (
        SELECT
            *,
            judged
                AND lead(called_at) OVER (PARTITION BY session_id, provider, model, input_tokens ORDER BY called_at)
                <= called_at + to_seconds(coalesce(getvariable('retry_seconds')::DOUBLE, 60)) AS retried
        FROM paid
    )

SELECT
    provider,
    billed_by,
    model,
    count(*) AS calls,
    round(count(*) FILTER (WHERE judged) / count(*), 4) AS judged_coverage,
    count(*) FILTER (WHERE retried) AS retried_calls,
    count(*) FILTER (WHERE retried AND failed) AS after_failure,
    sum(output_tokens) FILTER (WHERE retried) AS output_tokens,
    sum(cost_usd) FILTER (WHERE retried) AS cost_usd,
    count(*) FILTER (WHERE retried AND cost_usd IS NULL) AS calls_without_cost
FROM followed
GROUP BY ALL
ORDER BY cost_usd DESC NULLS LAST, retried_calls DESC, provider, billed_by, model;

-- How often each fact is known, by source and protocol: the coverage behind every other figure.
-- grain: one row per source and protocol
-- reads: calls
-- parameters: since, until (dates, both inclusive)
SELECT
    source,
    protocol,
    count(*) AS calls,
    round(100 * count(called_at) / count(*), 1) AS pct_dated,
    round(100 * count(model) / count(*), 1) AS pct_model,
    round(100 * count(output_tokens) / count(*), 1) AS pct_output_tokens,
    round(100 * count(reasoning_tokens) / count(*), 1) AS pct_reasoning_tokens,
    round(100 * count(thinking_form) / count(*), 1) AS pct_shows_thinking,
    round(
        100 * count(*) FILTER (WHERE thinking_chars IS NOT NULL AND thinking_purged_at IS NULL) / count(*), 1
    ) AS pct_thinking_text,
    round(100 * count(effort_applied) / count(*), 1) AS pct_effort_applied,
    round(100 * count(cost_reported_usd) / count(*), 1) AS pct_cost_reported,
    round(100 * count(finish_reason) / count(*), 1) AS pct_finished,
    count(*) FILTER (WHERE reasoning_basis = 'unknown') AS basis_unknown,
    count(*) FILTER (WHERE counts_disagree) AS counts_disagree,
    count(*) FILTER (WHERE text_truncated) AS text_truncated
FROM calls
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY calls DESC, source, protocol;

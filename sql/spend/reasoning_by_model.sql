-- What share of the output is reasoning, by model.
-- grain: one row per provider and model
-- reads: calls
-- parameters: since, until (dates, both inclusive)
--
-- reported_reasoning counts only what providers report; thinking_calls_without_count are calls that show thinking
-- but report no count for it, so their reasoning hides inside output_tokens.
SELECT
    provider,
    model,
    count(*) AS calls,
    sum(output_tokens) AS output_tokens,
    sum(reasoning_tokens) AS reported_reasoning,
    round(
        sum(reasoning_tokens) / nullif(sum(output_tokens) FILTER (WHERE reasoning_tokens IS NOT NULL), 0), 4
    ) AS reasoning_share,
    round(
        coalesce(sum(output_tokens) FILTER (WHERE reasoning_tokens IS NOT NULL), 0) / nullif(sum(output_tokens), 0), 4
    ) AS reasoning_coverage,
    count(*) FILTER (WHERE thinking_form IS NOT NULL AND reasoning_tokens IS NULL) AS thinking_calls_without_count,
    round(avg(thinking_chars), 0)::BIGINT AS mean_thinking_chars,
    count(*) FILTER (WHERE finish_reason = 'length' AND answer_chars IS NULL) AS cut_off_without_answer
FROM calls
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
GROUP BY ALL
ORDER BY output_tokens DESC NULLS LAST, provider, model;

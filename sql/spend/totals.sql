-- What it all comes to: calls, tokens, the share of the output that is reasoning, and how much of this is known.
-- grain: one row
-- reads: calls
-- parameters: since, until (dates, both inclusive)
--
-- output_tokens = reasoning_in_output + rest_of_output + output_not_split. A call's output is split where it reports
-- both counts and they fit; reasoning_share is taken over these calls, reasoning_coverage says how much of the output
-- they are. Reasoning above the output (reasoning_basis 'unknown', the output is a lower bound) splits nothing.
SELECT
    count(*) AS calls,
    min(date) AS first_date,
    max(date) AS last_date,
    count(*) FILTER (WHERE date IS NULL) AS undated_calls,
    count(*) FILTER (WHERE error_type IS NOT NULL OR finish_reason = 'error') AS failed_calls,
    count(*) FILTER (WHERE cache_hit) AS cache_hits,
    sum(input_tokens) AS input_tokens,
    sum(cached_input_tokens) AS cached_input_tokens,
    sum(output_tokens) AS output_tokens,
    sum(output_tokens) FILTER (WHERE date IS NULL) AS undated_output_tokens,
    count(*) FILTER (WHERE output_tokens IS NULL) AS calls_without_usage,
    count(*) FILTER (WHERE reasoning_basis = 'unknown') AS calls_with_lower_bound,
    sum(reasoning_tokens) AS reasoning_tokens,
    count(*) FILTER (WHERE reasoning_tokens_source = 'estimated') AS calls_with_estimate,
    sum(reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS reasoning_in_output,
    sum(output_tokens - reasoning_tokens) FILTER (WHERE reasoning_tokens <= output_tokens) AS rest_of_output,
    sum(output_tokens) FILTER (WHERE (reasoning_tokens <= output_tokens) IS NOT TRUE) AS output_not_split,
    round(reasoning_in_output / nullif(reasoning_in_output + rest_of_output, 0), 4) AS reasoning_share,
    round(coalesce(reasoning_in_output + rest_of_output, 0) / nullif(sum(output_tokens), 0), 4) AS reasoning_coverage,
    count(thinking_form) AS thinking_calls,
    count(*) FILTER (WHERE thinking_form IS NOT NULL AND reasoning_tokens IS NULL) AS thinking_calls_without_count,
    count(*) FILTER (WHERE finish_reason = 'length' AND answer_chars IS NULL) AS cut_off_without_answer,
    sum(output_tokens) FILTER (WHERE finish_reason = 'length' AND answer_chars IS NULL) AS cut_off_output_tokens,
    sum(cost_reported_usd) AS cost_reported_usd,
    count(cost_reported_usd) AS calls_with_cost
FROM calls
WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
    AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE);

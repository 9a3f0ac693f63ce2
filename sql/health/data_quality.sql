-- Which figures of the lake stand on weak ground, and how many calls each doubt concerns.
-- grain: one row per doubt
-- reads: calls
-- parameters: since, until (dates, both inclusive)
--
-- share is taken over checked, the calls of which the question can be asked: a call without a count cannot be wrong
-- about it. Where nothing can be asked the share is null, where nothing is doubtful it is 0.
WITH
    doubts AS (
        SELECT
            count(*) AS all_calls,
            count(*) FILTER (WHERE date IS NULL) AS undated,
            count(*) FILTER (WHERE model IS NULL) AS without_model,
            count(*) FILTER (WHERE error_type IS NULL AND finish_reason IS DISTINCT FROM 'error') AS ended_well,
            count(*) FILTER (
                WHERE error_type IS NULL AND finish_reason IS DISTINCT FROM 'error' AND output_tokens IS NULL
            ) AS without_usage,
            count(output_tokens) AS with_output,
            count(*) FILTER (WHERE reasoning_basis = 'unknown') AS lower_bound,
            count(*) FILTER (WHERE reasoning_basis = 'inferred') AS inferred,
            count(reasoning_tokens) AS with_reasoning,
            count(*) FILTER (WHERE reasoning_tokens_source = 'estimated') AS estimated,
            count(*) FILTER (WHERE reasoning_tokens > output_tokens) AS reasoning_above_output,
            count(thinking_form) AS shows_thinking,
            count(*) FILTER (WHERE thinking_form IS NOT NULL AND reasoning_tokens IS NULL) AS thinking_not_counted,
            count(*) FILTER (WHERE input_tokens IS NOT NULL AND cached_input_tokens IS NOT NULL) AS with_cached,
            count(*) FILTER (WHERE cached_input_tokens > input_tokens) AS cached_above_input,
            count(counts_disagree) AS two_counts,
            count(*) FILTER (WHERE counts_disagree) AS disagree,
            count(effort_applied) AS with_effort,
            count(*) FILTER (WHERE effort_applied_source IN ('request', 'response_echo')) AS effort_not_confirmed,
            count(*) FILTER (WHERE text_truncated) AS truncated,
            count(*) FILTER (WHERE sampled_fraction < 1) AS sampled
        FROM calls
        WHERE (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
    )

SELECT
    doubt,
    calls,
    checked,
    round(calls / nullif(checked, 0), 4) AS share
FROM (
    SELECT
        unnest([
            {'doubt': 'no date', 'calls': undated, 'checked': all_calls},
            {'doubt': 'no model', 'calls': without_model, 'checked': all_calls},
            {'doubt': 'no usage, though no error', 'calls': without_usage, 'checked': ended_well},
            {'doubt': 'output is a lower bound', 'calls': lower_bound, 'checked': with_output},
            {'doubt': 'output inferred from the total', 'calls': inferred, 'checked': with_output},
            {'doubt': 'reasoning above the output', 'calls': reasoning_above_output, 'checked': with_reasoning},
            {'doubt': 'reasoning estimated by a gateway', 'calls': estimated, 'checked': with_reasoning},
            {'doubt': 'thinking shown but not counted', 'calls': thinking_not_counted, 'checked': shows_thinking},
            {'doubt': 'cached input above the input', 'calls': cached_above_input, 'checked': with_cached},
            {'doubt': 'envelope and body count differently', 'calls': disagree, 'checked': two_counts},
            {'doubt': 'effort not confirmed by the provider', 'calls': effort_not_confirmed, 'checked': with_effort},
            {'doubt': 'text cut by the log', 'calls': truncated, 'checked': all_calls},
            {'doubt': 'log is a sample', 'calls': sampled, 'checked': all_calls}
        ], recursive := true)
    FROM doubts
);

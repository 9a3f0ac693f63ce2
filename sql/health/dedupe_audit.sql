-- Whether money may be counted twice: calls of one response id, and calls of the same size from two logs.
-- grain: one row per sign, provider and model
-- reads: call_costs, calls
-- parameters: since, until (dates, both inclusive)
--
-- response_id: one id in several calls, which small servers repeat and retries share. same_size: calls of two sources
-- with the same day, model, input, output and answer length, as a gateway and its client leave under two ids. Neither
-- proves a duplicate; extra_calls are those beyond one of each group, extra_cost_usd what they cost at the most, and
-- calls_without_cost those of them whose cost is not known. The account of each run says what was dropped.
WITH
    sized AS (
        SELECT
            hash(date, model, input_tokens, output_tokens, answer_chars) AS size,
            min(source) AS one,
            max(source) AS other
        FROM calls
        WHERE input_tokens > 0
            AND output_tokens > 0
            AND cache_hit IS NOT TRUE
            AND (getvariable('since') IS NULL OR date >= getvariable('since')::DATE)
            AND (getvariable('until') IS NULL OR date <= getvariable('until')::DATE)
        GROUP BY size
        HAVING one <> other
    )
SELECT 1;

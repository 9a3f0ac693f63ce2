-- How much text falls due in which week, by the policy in force.
-- grain: one row per week (its Monday), the overdue first: their week is null
-- reads: call_retention
-- parameters: as_of (a date; today in UTC by default)
--
-- Sizes are code points: of English text as many bytes, of other languages fewer than theirs. What is kept for ever is in
-- no week.
WITH
    clock AS (SELECT coalesce(getvariable('as_of')::DATE, (now() AT TIME ZONE 'UTC')::DATE) AS today),

    stored AS (
        SELECT thinking_due AS due, thinking_chars, NULL AS answer_chars FROM call_retention WHERE thinking_chars > 0
        UNION ALL
        SELECT answer_due, NULL, answer_chars FROM call_retention WHERE answer_chars > 0
    )

SELECT
    CASE WHEN due > today THEN date_trunc('week', due)::DATE END AS week,
    count(thinking_chars) AS thinking_texts,
    count(answer_chars) AS answer_texts,
    coalesce(sum(thinking_chars), 0) AS thinking_chars,
    coalesce(sum(answer_chars), 0) AS answer_chars
FROM stored, clock
WHERE due IS NOT NULL
GROUP BY week
ORDER BY week NULLS FIRST;

-- What is due and when, by the rule that decides: how many calls still hold a text, and when it has to go.
-- grain: one row per rule and text
-- reads: call_retention
-- parameters: as_of (a date; today in UTC by default)
--
-- 'thinkledger retain' takes what is due now. Sizes are code points. Where the lake has no policy, all is kept.
WITH
    clock AS (SELECT coalesce(getvariable('as_of')::DATE, (now() AT TIME ZONE 'UTC')::DATE) AS today),

    stored AS (
        SELECT rule, 'thinking' AS text, thinking_chars AS chars, thinking_due AS due, held_until FROM call_retention
        UNION ALL
        SELECT rule, 'answer', answer_chars, answer_due, held_until FROM call_retention
    )

SELECT
    coalesce(rule, 'no policy') AS rule,
    text,
    count(*) AS calls,
    count(*) FILTER (WHERE due <= today) AS due_now,
    sum(chars) FILTER (WHERE due <= today) AS chars_due_now,
    count(*) FILTER (WHERE due > today AND due <= today + 7) AS due_in_7_days,
    count(*) FILTER (WHERE due > today + 7 AND due <= today + 30) AS due_in_8_to_30_days,
    count(*) FILTER (WHERE due > today + 30) AS due_later,
    count(*) FILTER (WHERE due IS NULL) AS kept,
    count(*) FILTER (WHERE held_until >= today) AS held,
    min(due) FILTER (WHERE due > today) AS next_due
FROM stored, clock
WHERE chars > 0
GROUP BY ALL
ORDER BY due_now DESC, calls DESC, rule, text;

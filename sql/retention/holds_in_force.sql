-- Which holds are in force, until when, and how much they hold: calls whose texts stay whatever the clocks say.
-- grain: one row per hold
-- reads: holds, call_retention
-- parameters: as_of (a date; today in UTC by default)
--
-- A call that two holds mean counts for both. Sizes are code points.
WITH
    clock AS (SELECT coalesce(getvariable('as_of')::DATE, (now() AT TIME ZONE 'UTC')::DATE) AS today),

    held AS (
        SELECT
            unnest(held_by) AS place,
            coalesce(thinking_chars, 0) + coalesce(answer_chars, 0) AS chars
        FROM call_retention
        WHERE thinking_chars > 0 OR answer_chars > 0
    )

SELECT
    holds.place,
    holds.reason,
    holds.held_until,
    holds.calls_meant,
    count(held.place) AS calls_with_texts,
    coalesce(sum(held.chars), 0) AS chars
FROM holds
CROSS JOIN clock
LEFT JOIN held ON held.place = holds.place
WHERE holds.held_until >= clock.today
GROUP BY ALL
ORDER BY holds.held_until, holds.place;

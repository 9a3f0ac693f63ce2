-- Who has texts that are older than so many days: the users whose data a leak would show.
-- grain: one row per user and team; null: calls without one
-- reads: call_retention
-- parameters: days (30 by default), as_of (a date; today in UTC by default)
--
-- Undated calls count from the day when the lake got them. Sizes are code points.
WITH
    clock AS (
        SELECT
            coalesce(getvariable('as_of')::DATE, (now() AT TIME ZONE 'UTC')::DATE) AS today,
            coalesce(getvariable('days')::INTEGER, 30) AS days
    )

SELECT
    user_id,
    team,
    count(*) AS calls,
    count(*) FILTER (WHERE thinking_chars > 0) AS with_thinking,
    count(*) FILTER (WHERE answer_chars > 0) AS with_answer,
    sum(thinking_chars) AS thinking_chars,
    sum(answer_chars) AS answer_chars,
    max(date_diff('day', counted_from, today)) AS oldest_days
FROM call_retention, clock
WHERE (thinking_chars > 0 OR answer_chars > 0) AND counted_from < today - days
GROUP BY ALL
ORDER BY oldest_days DESC, calls DESC, user_id NULLS LAST, team NULLS LAST;

-- The oldest trace that is still stored, by team.
-- grain: one row per team; null: calls without one
-- reads: call_retention
-- parameters: as_of (a date; today in UTC by default)
--
-- A trace is a thinking text. Sizes are code points; calls that no clock dated are counted apart.
SELECT
    team,
    count(*) AS calls_with_thinking,
    sum(thinking_chars) AS thinking_chars,
    min(date) AS oldest,
    date_diff('day', min(date), coalesce(getvariable('as_of')::DATE, (now() AT TIME ZONE 'UTC')::DATE)) AS oldest_days,
    count(*) FILTER (WHERE date IS NULL) AS undated,
    count(*) FILTER (WHERE held_until IS NOT NULL) AS with_a_hold
FROM call_retention
WHERE thinking_chars > 0
GROUP BY team
ORDER BY oldest NULLS LAST, team NULLS LAST;

-- How long after a call its record reaches the lake, by source: how late a daily figure is complete.
-- grain: one row per source and UTC date of arrival
-- reads: calls
-- parameters: since, until (dates of the calls, both inclusive)
--
-- A record arrives when the run that read it begins. Undated calls have no lateness; they are counted. A negative
-- lateness is a clock that runs ahead, or a record without time zone.
SELECT
    source,
    try_strptime(left(run_id, 8), '%Y%m%d')::DATE AS arrived,
    count(*) AS calls,
    count(*) FILTER (WHERE called_at IS NULL) AS undated,
    round(quantile_cont(hours, 0.5), 2) AS median_hours,
    round(quantile_cont(hours, 0.99), 2) AS p99_hours,
    round(max(hours), 2) AS most_hours,
    count(*) FILTER (WHERE hours > 24) AS later_than_a_day,
    count(*) FILTER (WHERE hours < 0) AS before_the_call
FROM (
    SELECT
        source,
        run_id,
        called_at,
        date_diff('second', called_at, try_strptime(left(run_id, 16), '%Y%m%dT%H%M%SZ')::TIMESTAMP AT TIME ZONE 'UTC') / 3600
            AS hours
    FROM calls
    WHERE (date >= getvariable('since')::DATE OR getvariable('since') IS NULL)
        AND (date <= getvariable('until')::DATE OR getvariable('until') IS NULL)
)
GROUP BY ALL
ORDER BY arrived DESC, source;

-- How much thinking is stored, by age: what a retention clock would find.
-- grain: one row per age band and thinking form
-- reads: calls
-- parameters: as_of (a date; the newest call's date by default)
WITH
    clock AS (SELECT coalesce(getvariable('as_of')::DATE, max(date)) AS today FROM calls),

    aged AS (
        SELECT
            thinking_form,
            thinking,
            answer,
            date_diff('day', date, clock.today) AS age_days
        FROM calls, clock
        WHERE thinking IS NOT NULL OR answer IS NOT NULL
    )

SELECT
    CASE
        WHEN age_days IS NULL THEN 'undated'
        WHEN age_days < 7 THEN '0-6 days'
        WHEN age_days < 30 THEN '7-29 days'
        WHEN age_days < 90 THEN '30-89 days'
        ELSE '90 days and more'
    END AS age,
    thinking_form,
    count(*) AS calls,
    sum(strlen(thinking)) AS thinking_bytes,
    sum(strlen(answer)) AS answer_bytes,
    max(age_days) AS oldest_days
FROM aged
GROUP BY ALL
ORDER BY oldest_days NULLS LAST, thinking_form;

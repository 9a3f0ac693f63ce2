-- How much thinking is stored, by age: what a retention clock would find.
-- grain: one row per age band and thinking form
-- reads: calls
-- parameters: as_of (a date; the newest call's date by default)
--
-- Sizes are code points, which every call keeps beside its texts, so that no text is read; a text that retention took
-- counts no more. Null where no call of the row stores such a text.
WITH
    clock AS (SELECT coalesce(getvariable('as_of')::DATE, max(date)) AS today FROM calls),

    aged AS (
        SELECT
            thinking_form,
            CASE WHEN thinking_purged_at IS NULL THEN thinking_chars END AS thinking_chars,
            CASE WHEN answer_purged_at IS NULL THEN answer_chars END AS answer_chars,
            date_diff('day', date, clock.today) AS age_days
        FROM calls, clock
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
    sum(thinking_chars) AS thinking_chars,
    sum(answer_chars) AS answer_chars,
    max(age_days) AS oldest_days
FROM aged
WHERE thinking_chars IS NOT NULL OR answer_chars IS NOT NULL
GROUP BY ALL
ORDER BY oldest_days NULLS LAST, thinking_form;

-- Why rows that arrived do not stay, by what has the same call.
SELECT
    CASE
        WHEN NOT winner_own THEN 'a neighbouring date has it'
        WHEN winner_live THEN 'the lake has it'
        ELSE 'it came twice in this run'
    END AS rule,
    count(*) AS rows
FROM settled
WHERE own AND NOT live AND NOT stays
GROUP BY ALL
ORDER BY ALL;

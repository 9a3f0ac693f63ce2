-- Rows that arrive for a call whose text retention had removed: they stay without it.
SELECT
    part,
    row,
    thinking_at,
    answer_at
FROM settled
JOIN (
    SELECT
        id,
        min(thinking_purged_at) AS thinking_at,
        min(answer_purged_at) AS answer_at
    FROM contest
    GROUP BY id
    HAVING thinking_at IS NOT NULL OR answer_at IS NOT NULL
) USING (id)
WHERE own AND NOT live AND stays
ORDER BY part, row;

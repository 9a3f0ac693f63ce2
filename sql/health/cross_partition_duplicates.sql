-- Calls that are stored under two neighbouring dates, or under a date and undated as well; must be empty.
-- grain: one row per pair
-- reads: calls
--
-- Finished records of one id whose texts are no prefixes of each other are two calls (id_conflict), not one twice;
-- where retention took the texts, nothing can tell any more.
WITH shared AS (
    SELECT *
    FROM calls
    -- Numbers group three times as fast as texts; the join below asks for the ids themselves.
    WHERE hash(call_id) IN (SELECT hash(call_id) FROM calls GROUP BY hash(call_id) HAVING count(*) > 1)
)
SELECT
    one.call_id,
    one.date,
    other.date AS other_date,
    one.source_file,
    one.source_position,
    other.source_file AS other_source_file,
    other.source_position AS other_source_position
FROM shared AS one
JOIN shared AS other
    ON other.call_id = one.call_id
    AND one.date IS NOT NULL
    AND (other.date IS NULL OR other.date = one.date + 1)
WHERE coalesce(one.thinking_purged_at, one.answer_purged_at, other.thinking_purged_at, other.answer_purged_at) IS NULL
    AND NOT coalesce(
        CASE
            WHEN one.answer IS NOT NULL AND other.answer IS NOT NULL
            THEN NOT starts_with(one.answer, other.answer) AND NOT starts_with(other.answer, one.answer)
            ELSE NOT starts_with(one.thinking, other.thinking) AND NOT starts_with(other.thinking, one.thinking)
        END,
        false
    )
ORDER BY ALL;

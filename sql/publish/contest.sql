-- Rows of ids that occur more than once, the best first. The order is total and reads nothing but the records, so
-- neighbouring partitions agree on it. A record that was read before (the same place) is one record, whatever became
-- of its text since.
CREATE TABLE contest AS
SELECT
    *,
    row_number() OVER (PARTITION BY id, source_file, source_position ORDER BY place) > 1 AS again
FROM (
    SELECT
        *,
        row_number() OVER (
            PARTITION BY id
            ORDER BY
                fate,
                usage DESC,
                version DESC NULLS LAST,
                source_file,
                source_position,
                live DESC,
                slot NULLS LAST,
                part,
                row
        ) AS place
    FROM candidates
    WHERE id IN (SELECT id FROM candidates GROUP BY id HAVING count(*) > 1)
);

-- The partition's rows that go.
SELECT part, row
FROM settled
WHERE own AND NOT stays
ORDER BY part, row;

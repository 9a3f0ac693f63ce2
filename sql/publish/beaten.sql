-- Rows of other partitions that lose to a row which arrives in this one.
SELECT
    slot,
    id,
    source_file,
    source_position
FROM settled
WHERE NOT own AND NOT stays AND winner_own AND NOT winner_live
ORDER BY ALL;

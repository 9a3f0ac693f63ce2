-- The calls whose costs no file holds: all of them until 'thinkledger prices' has put prices in force.
-- grain: one row per call
CREATE VIEW uncosted_calls AS
SELECT
    $columns
FROM $rows;

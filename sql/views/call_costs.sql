-- What every call cost, by the prices in force: derived beforehand wherever they are, so that no question reckons.
-- grain: one row per row of calls
-- reads: the costs files, and reckoned_costs where calls have none
--
-- The meaning of each column is told in reckoned_costs.
CREATE VIEW call_costs AS
SELECT
    $columns
FROM $rows;

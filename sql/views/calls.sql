-- Every call in the lake.
-- grain: one row per call_id (finished records of one id with different texts stay apart)
-- reads: exactly the live files; filters on date skip all other dates' files
CREATE VIEW calls AS
SELECT $columns
FROM $rows;

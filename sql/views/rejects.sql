-- What could not be read, with the reason and the raw bytes.
-- grain: one row per reject_id
-- reads: exactly the live files; filters on date skip all other dates' files
CREATE VIEW rejects AS
SELECT $columns
FROM $rows;

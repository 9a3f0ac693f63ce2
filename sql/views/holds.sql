-- The holds of the policy in force, also those that have ended.
-- grain: one row per hold
-- reads: nothing; the holds of retention/policy-….json are filled in
CREATE VIEW holds AS
SELECT
    place,
    reason,
    held_until,
    calls_meant
FROM $rows;

-- When the raw bytes of a reject fall due, and by which rule; null is never. Of a reject only its source is known: a hold
-- for anything else may mean it, so it is held.
-- Filled in from a policy (transforms/clocks.py).
SELECT
    $columns,
    coalesce(date, try_strptime(left(run_id, 8), '%Y%m%d')::DATE) AS counted_from,
    $rule AS rule,
    $held_until AS held_until,
    nullif(greatest($rejects, held_until + 1), 'infinity'::DATE) AS rejects_due
FROM $relation

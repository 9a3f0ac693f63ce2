-- When each text of a call falls due, and by which rule; null is never. The clocks run from the day of the call, for an
-- undated call from the day when the lake got it. A hold moves what is due before its end to the day after it.
-- Filled in from a policy (transforms/clocks.py). The purge, publishing and the questions all read this one text.
SELECT
    $columns,
    coalesce(date, try_strptime(left(run_id, 8), '%Y%m%d')::DATE) AS counted_from,
    $rule AS rule,
    $is_user AS is_forgotten_user,
    coalesce(is_forgotten_user OR $is_session, false) AS is_forgotten,
    $held_until AS held_until,
    nullif(greatest($thinking, held_until + 1), 'infinity'::DATE) AS thinking_due,
    nullif(greatest($answer, held_until + 1), 'infinity'::DATE) AS answer_due,
    nullif(greatest($error_message, held_until + 1), 'infinity'::DATE) AS error_message_due,
    nullif(greatest($rest, held_until + 1), 'infinity'::DATE) AS rest_due,
    nullif(greatest($tags, held_until + 1), 'infinity'::DATE) AS tags_due
FROM $relation

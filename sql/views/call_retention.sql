-- When the texts of every call fall due by the policy in force, and which rule decides; null is never. What goes at once
-- is due since the day of the call. Sizes are those of texts that are still there.
-- grain: one row per row of calls
-- reads: calls (no text column); the rules of retention/policy-….json are filled in
CREATE VIEW call_retention AS
SELECT
    call_id,
    date,
    counted_from,
    provider,
    model,
    source,
    team,
    user_id,
    session_id,
    thinking_form,
    CASE WHEN thinking_purged_at IS NULL THEN thinking_chars END AS thinking_chars,
    CASE WHEN answer_purged_at IS NULL THEN answer_chars END AS answer_chars,
    $rule_name AS rule,
    CASE thinking_due WHEN '-infinity'::DATE THEN counted_from ELSE thinking_due END AS thinking_due,
    CASE answer_due WHEN '-infinity'::DATE THEN counted_from ELSE answer_due END AS answer_due,
    CASE error_message_due WHEN '-infinity'::DATE THEN counted_from ELSE error_message_due END AS error_message_due,
    CASE rest_due WHEN '-infinity'::DATE THEN counted_from ELSE rest_due END AS rest_due,
    CASE tags_due WHEN '-infinity'::DATE THEN counted_from ELSE tags_due END AS tags_due,
    held_until,
    held_by
FROM ($clocks);

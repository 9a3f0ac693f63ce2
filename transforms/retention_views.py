"""What the views of a lake say of the policy in force: filled into ``sql/views/call_retention`` and ``holds``."""

from schemas.policy import Forgotten, PolicyInForce
from transforms.clocks import call_clocks, held_by, quoted, rule_name

_COLUMNS = (
    "call_id", "date", "provider", "model", "source", "team", "user_id", "session_id", "thinking_form",
    "thinking_chars", "answer_chars", "thinking_purged_at", "answer_purged_at",
)  # fmt: skip
_HOLD = "NULL::INTEGER AS place, NULL::VARCHAR AS reason, NULL::DATE AS held_until, NULL::VARCHAR AS calls_meant"


def retention_views(policy: PolicyInForce | None) -> dict[str, dict[str, str]]:
    """What is to be filled in, by view; without a policy nothing ever falls due."""
    known = policy or PolicyInForce(forgotten=Forgotten(salt=""))
    holds = [
        f"SELECT {place}, {quoted(hold.reason)}, '{hold.until}'::DATE, {quoted(str(hold.when))}"
        for place, hold in enumerate(known.holds, 1)
    ]
    return {
        "views/call_retention": {
            "rule_name": rule_name(known) if policy else "NULL::VARCHAR",
            "clocks": call_clocks(known, "calls", [*_COLUMNS, f"{held_by(known)} AS held_by"]),
        },
        "views/holds": {"rows": f"({' UNION ALL '.join([f'SELECT {_HOLD} WHERE false', *holds])})"},
    }

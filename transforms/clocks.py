"""A policy as SQL: when each text falls due. One text for the purge, for publishing and for the questions.

The first rule that a call meets decides. A call that lacks what a condition names does not meet it; of a reject only
the source is known, and a hold that may mean it holds it.
"""

import hashlib
from collections.abc import Sequence
from datetime import date, timedelta
from string import Template

import sql
from schemas.clocks import Clock, Word
from schemas.policy import Hold, Policy, PolicyInForce, When

_COLUMNS = {"user": "user_id", "session": "session_id"}
"""Conditions that have another name than their column."""
CONDITIONS = ("provider", "model", "source", "team", "user_id", "session_id", "tags", "thinking_form")
"""The columns that a rule looks at."""
_AT_ONCE = "'-infinity'::DATE"
_NEVER = "'infinity'::DATE"
_USER, _SESSION = "user", "session"


def in_force(policy: Policy, before: PolicyInForce | None, salt: str) -> PolicyInForce:
    """A policy as the lake keeps it. Whoever was to be forgotten before still is: the file need not name them again.

    ``salt`` is taken where the lake has none yet.
    """
    known = before.forgotten if before else None
    salt = known.salt if known else salt
    users = {hashed(salt, _USER, entry.user) for entry in policy.forget if entry.user}
    sessions = {hashed(salt, _SESSION, entry.session) for entry in policy.forget if entry.session}
    return PolicyInForce.model_validate(
        policy.model_dump(exclude={"forget"}, exclude_unset=True)
        | {
            "forgotten": {
                "salt": salt,
                "users": sorted(users | set(known.users if known else ())),
                "sessions": sorted(sessions | set(known.sessions if known else ())),
            }
        }
    )


def hashed(salt: str, kind: str, name: str) -> str:
    """The hash of a user or a session, as ``_hash`` says it in SQL."""
    return hashlib.sha256(f"{salt}:{kind}:{name}".encode()).hexdigest()


def _hash(salt: str, kind: str, column: str) -> str:
    return f"sha256({quoted(f'{salt}:{kind}:')} || {column})"


def aliases(policy: PolicyInForce) -> str:
    """The names that stand for a forgotten user and session, as SQL: the same for the same, and they tell nothing."""
    return ", ".join(
        f"'forgotten-' || left({_hash(policy.forgotten.salt, kind, column)}, 16) AS {kind}_alias"
        for kind, column in _COLUMNS.items()
    )


def call_clocks(policy: PolicyInForce, relation: str, columns: Sequence[str]) -> str:
    """The query for the clocks of calls: the columns named, and what ``sql/purge/clocks.sql`` says."""
    everywhere = policy.everywhere()
    names = ("thinking", "answer", "error_message", "rest", "tags")
    forgotten = policy.forgotten
    return Template(sql.text("purge/clocks")).substitute(
        {name: _days([getattr(clocks, name) for clocks in everywhere], "is_forgotten") for name in names},
        columns=", ".join(columns),
        rule=_first([_meets(rule.when) for rule in policy.rules]),
        is_user=_is_one_of(_hash(forgotten.salt, _USER, "user_id"), forgotten.users),
        is_session=_is_one_of(_hash(forgotten.salt, _SESSION, "session_id"), forgotten.sessions),
        held_until=_held_until([(hold, _meets(hold.when)) for hold in policy.holds]),
        relation=relation,
    )


def reject_clocks(policy: PolicyInForce, relation: str, columns: Sequence[str]) -> str:
    """The query for the clock of rejects: the columns named, and what ``sql/purge/reject_clocks.sql`` says."""
    rules = [rule for rule in policy.rules if rule.rejects is not None]
    places = [policy.rules.index(rule) + 1 for rule in rules]
    clocks: list[Clock] = [policy.rejects(), *(rule.rejects or Word.KEEP for rule in policy.rules)]
    return Template(sql.text("purge/reject_clocks")).substitute(
        columns=", ".join(columns),
        rule=_first([_meets(rule.when) for rule in rules], places),
        rejects=_days(clocks),
        held_until=_held_until([(hold, _may_meet(hold.when)) for hold in policy.holds]),
        relation=relation,
    )


def held_by(policy: PolicyInForce) -> str:
    """The places of the holds that a call meets, from 1 on, as an SQL list."""
    places = [f"CASE WHEN {_meets(hold.when)} THEN {place} END" for place, hold in enumerate(policy.holds, 1)]
    return f"list_filter([{', '.join(places)}]::INTEGER[], lambda place: place IS NOT NULL)"


def rule_name(policy: PolicyInForce) -> str:
    """The rule that decides over a call by its name, as SQL."""
    names = ", ".join(quoted(policy.describe(place)) for place in range(len(policy.rules) + 1))
    return f"CASE WHEN is_forgotten THEN 'forget' ELSE [{names}][rule + 1] END"


def first_due(policy: PolicyInForce, day: date | None) -> date | None:
    """The earliest day on which anything of this date's calls and rejects may be due; null: at once, or not known."""
    clocks = [clock for found in policy.everywhere() for clock in (found.rest, found.tags)]
    clocks += [policy.rejects(), *(rule.rejects for rule in policy.rules if rule.rejects)]
    forgets = policy.forgotten.users or policy.forgotten.sessions
    if day is None or forgets or Word.IMMEDIATELY in clocks:
        return None
    return min((day + timedelta(clock) for clock in clocks if isinstance(clock, int)), default=date.max)


def _days(clocks: Sequence[Clock], at_once: str | None = None) -> str:
    """The day on which something is due by the rule that decides; ``clocks`` begin with the defaults."""
    whens = [f"WHEN {at_once} THEN {_AT_ONCE}"] if at_once else []
    whens += [f"WHEN rule = {place} THEN {_day(clock)}" for place, clock in enumerate(clocks)]
    return f"CASE {' '.join(whens)} END"


def _day(clock: Clock) -> str:
    if isinstance(clock, Word):
        return _AT_ONCE if clock is Word.IMMEDIATELY else _NEVER
    return f"counted_from + {clock}"


def _first(conditions: Sequence[str], places: Sequence[int] | None = None) -> str:
    """The place of the first condition that holds, from 1 on, or 0."""
    numbered = zip(places or range(1, len(conditions) + 1), conditions, strict=True)
    whens = " ".join(f"WHEN {condition} THEN {place}" for place, condition in numbered)
    return f"CASE {whens} ELSE 0 END" if whens else "0"


def _held_until(holds: Sequence[tuple[Hold, str]]) -> str:
    ends = [f"CASE WHEN {condition} THEN '{hold.until}'::DATE END" for hold, condition in holds]
    return f"greatest({', '.join([*ends, 'NULL::DATE'])})"


def _meets(when: When) -> str:
    """A condition on a call."""
    told = []
    for name, wanted in when.conditions().items():
        if name == "tag":
            told += [_is_named(f"tags[{quoted(key)}]", names) for key, names in wanted.items()]
        else:
            told.append(_is_named(_COLUMNS.get(name, name), wanted))
    return f"({' AND '.join(told)})"


def _may_meet(when: When) -> str:
    """A condition on a reject, of which only the source is known, if that."""
    return f"(source IS NULL OR {_is_named('source', when.source)})" if when.source else "true"


def _is_named(column: str, names: Sequence[str]) -> str:
    plain = [quoted(name) for name in names if not set(name) & set("*?[")]
    told = [f"{column} IN ({', '.join(plain)})"] if plain else []
    told += [f"{column} GLOB {quoted(name)}" for name in names if set(name) & set("*?[")]
    return f"({' OR '.join(told)})"


def _is_one_of(value: str, hashes: Sequence[str]) -> str:
    return f"coalesce({value} IN ({', '.join(map(quoted, hashes))}), false)" if hashes else "false"


def quoted(text: str) -> str:
    """A text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"

"""Google ADK sessions: one object with all events, or one event a line.

Lines    Events whose content a model gave are calls; ``partial`` ones are pieces of the event that follows them. What a
         user or a tool said is none.
Tokens   ``usageMetadata`` as Gemini spells it.
Effort   Not recorded.
Ids      The client's own, one for each event.
Source   ADK's documentation of events and of sessions; keys in camel case or with underscores, by the writer.
"""

from collections.abc import Sequence
from typing import Any

from schemas.exchange import Exchange, JsonObject
from transforms.adk_response import body_of
from transforms.not_calls import NoCall
from transforms.transcript import Result, Results, list_in, object_in, text_in, time_in

NAME = "adk"

_NO_CALL = f"{NAME}: a session without a call"
_OTHER = f"{NAME}: an event that no model gave"
_PARTIAL = f"{NAME}: a piece of the event that follows"


def recognises(head: Sequence[JsonObject]) -> bool:
    return any(_is_event(line) or any(_is_event(event) for event in list_in(line, "events")) for line in head)


def _is_event(event: Any) -> bool:
    return isinstance(event, dict) and "author" in event and bool(text_in(event, "invocationId", "invocation_id"))


def fold(lines: Sequence[JsonObject]) -> Results:
    return [_session(line) if "events" in line else [_read(line, None, None)] for line in lines]


def _session(session: JsonObject) -> list[Result]:
    name, user = text_in(session, "id"), text_in(session, "userId", "user_id")
    read = [_read(event, name, user) for event in list_in(session, "events") if isinstance(event, dict)]
    calls: list[Result] = [one for one in read if isinstance(one, Exchange)]
    return calls or [NoCall(_NO_CALL)]


def _read(event: JsonObject, session_id: str | None, user: str | None) -> Exchange | NoCall:
    if event.get("partial") is True:
        return NoCall(_PARTIAL)
    error = text_in(event, "errorCode", "error_code")
    content = object_in(event, "content")
    by_model = content.get("role") == "model" and event.get("author") != "user"
    if not by_model and error is None:
        return NoCall(_OTHER)
    return Exchange(
        NAME,
        response=body_of(event) if by_model else None,
        called_at=time_in(event, "timestamp"),
        response_id=text_in(event, "id"),
        session_id=session_id,
        user_id=user,
        error_type=error,
        error_message=text_in(event, "errorMessage", "error_message"),
        tags={"agent": author} if (author := text_in(event, "author")) else None,
    )

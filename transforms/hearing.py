"""Which protocol an exchange speaks, and what it says: one reading for each answer that it holds.

Exactly one protocol claims a body. Bodies that none claims are errors, no generations at all, or unknown.
"""

from typing import NamedTuple

from schemas.exchange import Exchange, JsonObject, Stream
from schemas.reading import MalformedBodyError, Reading
from schemas.vocabulary import FinishReason, RejectReason
from transforms.errors import CallError, read_error
from transforms.json_text import to_json
from transforms.not_calls import NoCall, rule_of
from transforms.protocols import PROTOCOLS, claimants
from transforms.streams import answers
from transforms.wire_protocol import WireProtocol

_KEYS_SHOWN = 12


class Heard(NamedTuple):
    """What an exchange came to before its meaning is worked out: the protocol, where one is known, and its reading."""

    protocol: WireProtocol | None
    reading: Reading
    cut: bool = False


class Refused(NamedTuple):
    """Why an exchange cannot be read, and what was seen."""

    reason: RejectReason
    detail: str


def hear(exchange: Exchange) -> list[Heard] | NoCall | Refused:
    """Read an exchange: its answers in order, or why there is none."""
    try:
        return _hear(exchange)
    except MalformedBodyError as error:
        return Refused(RejectReason.MALFORMED_BODY, str(error))


def _hear(exchange: Exchange) -> list[Heard] | NoCall | Refused:
    response = exchange.response
    if response is None:
        return _hear_no_response(exchange)
    claimed = _claimed_by(response)
    if len(claimed) > 1:
        names = ", ".join(protocol.NAME for protocol in claimed)
        return Refused(RejectReason.AMBIGUOUS_PROTOCOL, f"claimed by {names}")
    if not claimed:
        return _hear_unclaimed(exchange, response)
    [protocol] = claimed
    if not isinstance(response, Stream):
        return [Heard(protocol, protocol.read(response))]
    return [
        Heard(protocol, protocol.read(protocol.fold(answer)), cut=answer.cut)
        for answer in answers(response, protocol.BEGINS)
    ]


def _claimed_by(response: JsonObject | Stream) -> list[WireProtocol]:
    if not isinstance(response, Stream):
        return claimants(response)
    for event in response.events:
        claimed = claimants(event)
        if claimed:
            return claimed
    return []


def _hear_unclaimed(exchange: Exchange, response: JsonObject | Stream) -> list[Heard] | NoCall | Refused:
    """Error bodies look alike everywhere: the request, else the URL, says whose they are."""
    bodies = response.events if isinstance(response, Stream) else [response]
    rule = next((rule for body in bodies if (rule := rule_of(body))), None)
    if rule is not None:
        return NoCall(rule)
    error = next((found for body in bodies if (found := read_error(body))), None)
    if error is None and _failed_status(exchange):
        error = CallError(None, to_json(bodies[0]).decode() if bodies else None)
    if error is None:
        keys = sorted({key for body in bodies for key in body})
        more = f" and {len(keys) - _KEYS_SHOWN} more" if len(keys) > _KEYS_SHOWN else ""
        seen = ", ".join(keys[:_KEYS_SHOWN]) + more if keys else "none"
        return Refused(RejectReason.UNKNOWN_PROTOCOL, f"keys seen: {seen}")
    reading = Reading(finish=FinishReason.ERROR, error_type=error.type, error_message=error.message)
    return [Heard(_protocol_of_request(exchange), reading)]


def _hear_no_response(exchange: Exchange) -> list[Heard] | Refused:
    failed = _failed_status(exchange) or exchange.error_type is not None or exchange.error_message is not None
    if failed:
        message = exchange.undecodable
        return [Heard(_protocol_of_request(exchange), Reading(finish=FinishReason.ERROR, error_message=message))]
    if exchange.undecodable is not None:
        return Refused(RejectReason.UNDECODABLE_BODY, exchange.undecodable)
    protocol = _protocol_of_request(exchange)
    if protocol is None and not exchange.is_counted:
        return Refused(RejectReason.EMPTY_RECORD, "no response, no error, and no request that a protocol claims")
    return [Heard(protocol, Reading())]


def _failed_status(exchange: Exchange) -> bool:
    return exchange.status_code is not None and exchange.status_code >= 400


def _protocol_of_request(exchange: Exchange) -> WireProtocol | None:
    """Whose call it was where the response does not say: by the URL's path, else by the request's shape."""
    url = exchange.url or ""
    served = [protocol for protocol in PROTOCOLS if any(path in url for path in protocol.PATHS)]
    if len(served) != 1 and exchange.request is not None:
        served = [protocol for protocol in PROTOCOLS if protocol.claims_request(exchange.request)]
    return served[0] if len(served) == 1 else None

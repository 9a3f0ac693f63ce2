"""Bedrock agents: InvokeAgent's event streams, and the answers of RetrieveAndGenerate.

One invocation of an agent runs several invocations of models, each with its own usage: they are one call here, with
the sums. ``usage_raw`` lists every invocation with its model, and the model is named where all ran on one.

Surface   ``chunk.bytes`` (answer, base64), ``rationale`` and ``reasoningContent`` of trace events (thinking),
          ``returnControl`` (calls for the client). What an agent does by itself is no call for the client.
Tokens    Summed over ``modelInvocationOutput``; null where traces are off, or where one invocation reports none.
          RetrieveAndGenerate reports none.
Effort    None: an agent's model is configured elsewhere.
Stream    InvokeAgent always answers with a stream; the order of its events is that of the work.
Sources   botocore's model of bedrock-agent-runtime; recorded traffic.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from schemas.exchange import JsonObject, Stream
from schemas.reading import Asked, Counts, MalformedBodyError, Piece, Reading
from schemas.vocabulary import FinishReason, PieceKind, ReasoningBasis, ThinkingSource
from schemas.wire.bedrock_invoke_agent import ModelInvocationOutput, Step, TraceEvent
from transforms import clock
from transforms.wire_models import parse

NAME = "bedrock_invoke_agent"
MARKS = frozenset({"trace", "chunk", "returnControl", "output"})
PATHS = ("/agentAliases/", "/retrieveAndGenerate")
VENDOR = "amazon"
BEGINS = None

_ENDS = frozenset({"FINISH", "ASK_USER"})
"""Observations with which the agent hands over to its user."""


# Claims


def claims(body: Mapping[str, Any]) -> bool:
    trace = body.get("trace")
    if isinstance(trace, dict) and isinstance(trace.get("trace"), dict):
        return True
    chunk, control, output = body.get("chunk"), body.get("returnControl"), body.get("output")
    if isinstance(chunk, dict):  # of InvokeModel's chunks the JSON within would stand here
        return isinstance(chunk.get("bytes"), str)
    if isinstance(control, dict):
        return "invocationInputs" in control
    return isinstance(output, dict) and "text" in output and ("sessionId" in body or body.keys() <= {"output", "p"})


def claims_request(request: Mapping[str, Any]) -> bool:
    return "retrieveAndGenerateConfiguration" in request or ("inputText" in request and "enableTrace" in request)


# Streams


def fold(stream: Stream) -> dict[str, Any]:
    """Gather the events: the answer's text in one place, traces and calls for the client in their order."""
    texts: list[str] = []
    body: JsonObject = {"trace": [], "returnControl": []}
    for event in stream.events:
        for name in ("trace", "returnControl"):
            if isinstance(event.get(name), Mapping):
                body[name].append(event[name])
        if "chunk" in event:
            texts.append(_chunk_text(event["chunk"]))
        elif isinstance(event.get("output"), dict):
            texts.append(_checked(event["output"].get("text")))
        failed = next((name for name in event if name.endswith("Exception")), None)
        if failed is not None:
            body["error"] = {"type": failed, **(event[failed] if isinstance(event[failed], dict) else {})}
    if texts:
        body["output"] = {"text": "".join(texts)}
    return body


def _chunk_text(chunk: object) -> str:
    payload = chunk.get("bytes", "") if isinstance(chunk, dict) else None
    if not isinstance(payload, str):
        raise MalformedBodyError(f"chunk: {type(payload).__name__}, not base64")
    try:
        return base64.b64decode(payload, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):  # a recorder that had decoded it
        return payload


def _checked(text: object) -> str:
    if not isinstance(text, str):
        raise MalformedBodyError(f"output.text: {type(text).__name__}, not a text")
    return text


# Bodies


class _Work(NamedTuple):
    """What the traces of one call tell."""

    thoughts: list[str]
    invocations: list[JsonObject]
    final_text: str | None
    finish: str | None


def read(body: dict[str, Any]) -> Reading:
    events = body.get("trace")
    events = [event for event in events if isinstance(event, dict)] if isinstance(events, list) else []
    work = _work(events)
    pieces = [
        Piece(PieceKind.THINKING, text, part=n, source=ThinkingSource.BLOCK) for n, text in enumerate(work.thoughts)
    ]
    output = body.get("output")
    text = _checked(output["text"]) if isinstance(output, dict) and "text" in output else work.final_text
    if text is not None:
        pieces.append(Piece(PieceKind.ANSWER, text))
    calls = list(_calls(body.get("returnControl")))
    models = {invocation["model"] for invocation in work.invocations}
    reading = Reading(
        pieces=[*pieces, *calls],
        model=models.pop() if len(models) == 1 else None,
        created_at=clock.from_any(parse(TraceEvent, events[0]).event_time) if events else None,
        choices=1,
        finish=FinishReason.STOP if work.finish else FinishReason.TOOL_CALLS if calls else None,
        finish_raw=work.finish,
        counts=_counts(work.invocations),
        usage={"invocations": work.invocations} if work.invocations else None,
        provider_hint="bedrock",
    )
    error = body.get("error")
    if isinstance(error, dict):
        message = error.get("message")
        reading.finish, reading.error_type = FinishReason.ERROR, str(error.get("type"))
        reading.error_message = message if isinstance(message, str) else None
    return reading


def _work(events: list[JsonObject]) -> _Work:
    models: dict[str | None, str | None] = {}
    thoughts: list[str] = []
    invocations: list[JsonObject] = []
    final_text = finish = None
    for event in events:
        own = parse(TraceEvent, event).collaborator_name is None
        for step in _steps(event):
            if step.model_invocation_input is not None:
                models[step.model_invocation_input.trace_id] = step.model_invocation_input.foundation_model
            if step.model_invocation_output is not None:
                invocations.append(_invocation(step.model_invocation_output, models))
            thoughts += [text for text in _thoughts(step) if text.strip() and text not in thoughts[-1:]]
            if own and step.observation is not None and step.observation.type in _ENDS:
                finish = step.observation.type
                final_text = step.observation.final_response.text if step.observation.final_response else None
    return _Work(thoughts, invocations, final_text, finish)


def _steps(event: JsonObject) -> Iterator[Step]:
    steps = event.get("trace")
    for step in steps.values() if isinstance(steps, dict) else ():
        if isinstance(step, dict):
            yield parse(Step, step)


def _invocation(output: ModelInvocationOutput, models: Mapping[str | None, str | None]) -> JsonObject:
    usage = output.metadata.usage if output.metadata else None
    return {
        "model": models.get(output.trace_id),
        "inputTokens": usage.input_tokens if usage else None,
        "outputTokens": usage.output_tokens if usage else None,
    }


def _thoughts(step: Step) -> Iterator[str]:
    """The thinking of one step: the model's own, or what the agent took out of its text."""
    output = step.model_invocation_output
    if output is not None:
        native = output.reasoning_content.reasoning_text if output.reasoning_content else None
        yield (
            (native.text if native else None)
            or (output.parsed_response.rationale if output.parsed_response else "")
            or ""
        )
    if step.rationale is not None:
        yield step.rationale.text or ""


def _calls(control: object) -> Iterator[Piece]:
    """A call for the client for each input that the agent wants of it."""
    for event in control if isinstance(control, list) else ():
        inputs = event.get("invocationInputs") if isinstance(event, dict) else None
        yield from (Piece(PieceKind.TOOL_CALL) for _ in (inputs if isinstance(inputs, list) else ()))


def _counts(invocations: list[JsonObject]) -> Counts | None:
    if not invocations:
        return None
    return Counts(
        prompt=_sum([invocation["inputTokens"] for invocation in invocations]),
        completion=_sum([invocation["outputTokens"] for invocation in invocations]),
        convention=ReasoningBasis.INSIDE,
    )


def _sum(counts: list[int | None]) -> int | None:
    """The sum; null where one is not reported, since the rest would pass for the whole."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


# Requests


def asked(request: dict[str, Any]) -> Asked:
    session = request.get("sessionId")
    configuration = request.get("retrieveAndGenerateConfiguration")
    return Asked(
        model=_model_arn(configuration) if isinstance(configuration, dict) else None,
        session_id=session if isinstance(session, str) and session else None,
    )


def _model_arn(configuration: Mapping[str, Any]) -> str | None:
    for name in ("knowledgeBaseConfiguration", "externalSourcesConfiguration"):
        inner = configuration.get(name)
        if isinstance(inner, dict) and isinstance(inner.get("modelArn"), str):
            return str(inner["modelArn"]) or None
    return None

r"""Harmony, the channels in which gpt-oss writes, where a host hands the raw text through.

A message is ``<|start|>assistant<|channel|>NAME to=RECIPIENT <|constrain|>json<|message|>TEXT<|end|>``; the first one
lacks its start, which stood in the prompt, and ``<|return|>`` or ``<|call|>`` may end it. vLLM's rule is followed: what
goes to a function is a tool call, ``analysis`` is thinking, ``final`` and ``commentary`` without a recipient are
answer, and what goes to a tool that the server runs itself is none of them (``vllm/parser/harmony.py``, 0.32). Unlike
there, text in an unknown channel or in none is answer: a reader of the ledger loses nothing.

About one header in 25 is malformed at temperature 1 (ggml-org/llama.cpp#27720), so a header may lack any of its parts.
Hosts that drop special tokens leave ``analysisWe need …assistantfinalFour`` (Augustas11/macprovider#743) and
``commentary to=functions.NAME json{…}`` (Rapid-MLX#480).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from schemas.vocabulary import PieceKind

_KINDS = {"analysis": PieceKind.THINKING, "commentary": PieceKind.COMMENTARY, "final": PieceKind.ANSWER}
_SERVER_TOOLS = frozenset({"python", "browser", "container"})
_READERS = frozenset({"user", "assistant", "all"})

_TOKEN = re.compile(r"<\|(start|channel|constrain|message|end|return|call)\|>")
_NAME = re.compile(r"\s*(analysis|commentary|final)")
_RECIPIENT = re.compile(r"\s*to=([\w.\-]+)")
_HEAD = re.compile(r"\s*(?:<\|[sc]|analysis|commentary|final)")
_RAW_HEAD = re.compile(r"\s*(?:<\|start\|>\s*assistant|<\|channel\|>\s*(?:analysis|commentary|final))")
_BARE_HEAD = re.compile(r"\s*(?:analysis|commentary|final)[^<\n]{0,80}<\|(?:constrain|message)\|>")
_NEXT_MESSAGE = re.compile(r"<\|(?:end|call)\|>\s*<\|start\|>assistant[^<]{0,80}<\|channel\|>")
_STRIPPED_HEAD = re.compile(r"\s*(analysis|commentary)")
_STRIPPED_MARKER = re.compile(r"(?<!`)assistant(analysis|commentary|final)")  # behind a backtick it is a quotation
_STRIPPED_CALL = re.compile(r"\s*to=functions\.")
_GLUED = re.compile(r"\s*analysis[^\W\d_]")


class Channel(NamedTuple):
    """One message's text as written; a tool call has none, since its arguments are not kept."""

    kind: PieceKind
    text: str


@dataclass(slots=True)
class _Message:
    role: str = ""
    channel: str = ""
    content: str | None = None
    started: bool = True
    """False for what follows the end of a message: without a header it is text, not a role."""


def channels(text: str, *, gpt_oss: bool) -> list[Channel] | None:
    """Read the messages of a text that is Harmony, raw or with its special tokens dropped; None where it is not.

    The stripped form needs the marker of a second message, since honest answers begin with the word analysis; a call of
    a function alone is enough where the model is gpt-oss. A text cut before ``final`` has no answer.
    """
    if _HEAD.match(text) is None:
        return None
    is_raw = _BARE_HEAD.match(text) or (_RAW_HEAD.match(text) and (gpt_oss or "<|channel|>" in text))
    found = map(_channel, _messages(text)) if is_raw else _stripped(text, gpt_oss=gpt_oss)
    if found is None:
        return None
    return [channel for channel in found if channel and (channel.kind is PieceKind.TOOL_CALL or channel.text.strip())]


def is_unsplittable(text: str) -> bool:
    """Tell whether a gpt-oss text that ``channels`` could not read holds thinking all the same.

    The proofs are a glued first marker without a final one, and a first message whose header was cut off.
    """
    if _GLUED.match(text):
        return True
    boundary = _NEXT_MESSAGE.search(text) if "<|channel|>" in text else None
    return boundary is not None and "```" not in text[: boundary.start()]


def _messages(text: str) -> Iterator[_Message]:
    """Cut the text at its tokens; a token that may not stand where it stands begins the next message."""
    first = _TOKEN.search(text)
    lead = text[: first.start()] if first else text
    message = _Message(channel=lead) if _NAME.match(lead) else _Message(role=lead)
    while first is not None:
        mark, start = first[1], first.end()
        first = _TOKEN.search(text, start)
        piece = text[start : first.start() if first else len(text)]
        match mark:
            case "message" if message.content is None:
                message.content = piece
            case "constrain" if message.content is None:
                message.channel += "<|constrain|>" + piece
            case "message" | "constrain":
                message.content = f"{message.content}<|{mark}|>{piece}"
            case "channel" if message.content is None and not message.channel:
                message.channel = piece
            case "channel":
                yield message
                message = _Message(channel=piece)
            case _:
                yield message
                message = _Message(role=piece, started=mark == "start")
    yield message


def _channel(message: _Message) -> Channel | None:
    """Say what a message is; None for a tool's result, another role's turn and a call of a server's own tool."""
    author = message.role.strip()
    if not message.started and not message.channel and message.content is None:
        return Channel(PieceKind.ANSWER, message.role.removeprefix("assistant"))
    if author and not author.startswith("assistant"):
        return None
    role = author.removeprefix("assistant")
    header = message.channel or role
    name, recipient = _NAME.match(header), _RECIPIENT.search(header)
    kind = _KINDS[name[1]] if name else PieceKind.ANSWER
    addressed = recipient or _RECIPIENT.search(role)
    if addressed and (tool := addressed[1].split(".")[0]) not in _READERS:
        if tool not in _SERVER_TOOLS:
            return Channel(PieceKind.TOOL_CALL, "")
        if kind is not PieceKind.THINKING:
            return None
    if message.content is not None:
        return Channel(kind, message.content)
    return Channel(kind, header[max((mark.end() for mark in (name, recipient) if mark), default=0) :])


def _stripped(text: str, *, gpt_oss: bool) -> list[Channel] | None:
    """Read ``analysis…assistantfinal…``; everything behind the first final marker is the answer."""
    head = _STRIPPED_HEAD.match(text)
    if head is None:
        return None
    marks = [head]
    for mark in _STRIPPED_MARKER.finditer(text, head.end()):
        marks.append(mark)
        if mark[1] == "final":
            break
    proven = marks[-1][1] == "final" or any(_STRIPPED_CALL.match(text, mark.end()) for mark in marks[1:])
    called_at_once = gpt_oss and _STRIPPED_CALL.match(text, head.end())
    if not (called_at_once or (proven and head[1] == "analysis")):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [
        Channel(PieceKind.TOOL_CALL, "")
        if _STRIPPED_CALL.match(text, mark.end())
        else Channel(_KINDS[mark[1]], text[mark.end() : end])
        for mark, end in zip(marks, ends, strict=True)
    ]

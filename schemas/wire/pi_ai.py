"""Assistant messages of pi-ai, the library under the pi agent: what is read of them (reference on envelopes, 3.23)."""

from typing import Annotated, Any

from schemas.wire.lenient import Count, Flag, Number, OrNull, Text, WireModel


class Cost(WireModel):
    """US dollars, as some providers state them; pi-ai's own reckoning beside it is not read."""

    totalFromProvider: Number = None  # noqa: N815 - the wire's name


class Usage(WireModel):
    """The counts. ``input`` holds neither cache reads nor cache writes; ``output`` holds the reasoning."""

    input: Count = None
    output: Count = None
    cacheRead: Count = None  # noqa: N815 - the wire's name
    cacheWrite: Count = None  # noqa: N815 - the wire's name
    cacheWrite1h: Count = None  # noqa: N815 - the wire's name
    reasoning: Count = None
    totalTokens: Count = None  # noqa: N815 - the wire's name
    cost: Annotated[Cost | None, OrNull] = None


class Block(WireModel):
    """One block of the content: ``text``, ``thinking`` or ``toolCall``."""

    type: Text = None
    text: Text = None
    textSignature: Text = None  # noqa: N815 - the wire's name
    thinking: Text = None
    thinkingSignature: Text = None  # noqa: N815 - the wire's name
    redacted: Flag = None


class Message(WireModel):
    """A whole message."""

    content: list[Block] | str
    api: Text = None
    provider: Text = None
    model: Text = None
    responseModel: Text = None  # noqa: N815 - the wire's name
    responseId: Text = None  # noqa: N815 - the wire's name
    providerThinkingLevel: Text = None  # noqa: N815 - the wire's name
    usage: Annotated[Usage | None, OrNull] = None
    stopReason: Text = None  # noqa: N815 - the wire's name
    errorMessage: Text = None  # noqa: N815 - the wire's name
    timestamp: Any = None

"""From an exchange to its call: what was said (``hearing.py``) and what that means in the one schema."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from schemas.call import Call
from schemas.exchange import Exchange, StatedCounts, Stream
from schemas.reading import Asked, Counts, Reading
from schemas.reject import Reject
from schemas.vocabulary import FinishReason, ReasoningBasis, ThinkingForm
from transforms import clock, urls
from transforms.echoes import without_prompts
from transforms.effort import AppliedEffort, applied, applied_by_fallback
from transforms.further_calls import further_calls
from transforms.hearing import Heard, Refused, hear
from transforms.identity import call_id
from transforms.json_text import to_json
from transforms.not_calls import NoCall
from transforms.provider import provider_of
from transforms.texts import Texts, compose
from transforms.usage import Tokens, settle
from transforms.wire_protocol import WireProtocol

_COST_STEP = Decimal("1e-12")
_EXACT = Context(prec=38, rounding=ROUND_HALF_EVEN)


def to_calls(exchange: Exchange, file: str, position: int) -> list[Call | NoCall | Reject]:
    """One exchange to its call, or to what says why it is none; a capture of several answers to one each.

    What other models' runs within an answer cost are calls behind the answer's own.
    """
    heard = hear(exchange)
    if isinstance(heard, NoCall):
        return [heard]
    if isinstance(heard, Refused):
        return [Reject(heard.reason, heard.detail, source=exchange.source, date=_date(exchange.called_at))]
    calls: list[Call | NoCall | Reject] = []
    for answer in heard:
        call = _build(exchange, answer, file, position)
        calls.append(call)
        calls += further_calls(call, answer.reading.also)
    return calls


def _build(exchange: Exchange, heard: Heard, file: str, position: int) -> Call:
    protocol, reading, cut = heard
    request = exchange.request
    asked = protocol.asked(request) if protocol is not None and request is not None else Asked()
    model_requested = asked.model or exchange.model_requested or (urls.model_in(exchange.url) if exchange.url else None)
    model = reading.model or exchange.model or model_requested
    called_at = exchange.called_at if exchange.called_at is not None else reading.created_at
    error_type = reading.error_type or exchange.error_type
    error_message = reading.error_message or exchange.error_message
    failed = reading.finish is FinishReason.ERROR or error_type is not None or error_message is not None
    texts = compose(
        without_prompts(reading.pieces, asked.echoed, reading.choices),
        policy=exchange.tag_policy,
        model=model,
        failed=failed or reading.finish is FinishReason.ABORTED,
        reasoning_format=asked.reasoning_format,
    )
    tokens = _tokens(exchange, reading, asked)
    effort = _effort(
        exchange, reading, asked, texts, model=model, called_at=called_at, failed=failed or exchange.response is None
    )
    billing = provider_of(
        model,
        url=exchange.url,
        stated=exchange.provider,
        vendor=protocol.VENDOR if protocol is not None else None,
        hint=reading.provider_hint,
    )
    nothing_came = not reading.pieces and (failed or reading.choices is None)
    response_id = reading.response_id or exchange.response_id
    service_tier = reading.service_tier
    return Call(
        call_id=call_id(
            response_id,
            request,
            called_at,
            reading.pieces,
            from_cache=exchange.cache_hit is True,
            beside=_told_without_bodies(exchange),
        ),
        source=exchange.source,
        source_file=file,
        source_position=position,
        response_id=response_id,
        session_id=exchange.session_id or reading.session_id or asked.session_id,
        called_at=called_at,
        provider=billing.provider,
        billed_by=billing.billed_by,
        protocol=protocol.NAME if protocol is not None else None,
        model_requested=model_requested,
        model=model,
        streamed=_streamed(exchange, asked, protocol, listed=reading.listed),
        thinking=texts.thinking,
        answer=texts.answer,
        segments=texts.segments or None,
        thinking_form=_form(texts, tokens),
        thinking_source=texts.source,
        split_rule=texts.rule,
        thinking_chars=None if texts.thinking is None else len(texts.thinking),
        answer_chars=None if texts.answer is None else len(texts.answer),
        tool_calls=None if nothing_came else texts.tool_calls,
        choices=None if nothing_came else reading.choices,
        finish_reason=_finish(reading, texts, failed=failed),
        finish_reason_raw=reading.finish_raw,
        input_tokens=tokens.input,
        cached_input_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_write,
        cache_write_1h_tokens=tokens.cache_write_1h,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        reasoning_basis=tokens.basis,
        reasoning_basis_source=tokens.basis_source,
        reasoning_tokens_source=tokens.source,
        counts_disagree=_counts_disagree(exchange.counts, reading.counts, tokens),
        usage_raw=None if reading.usage is None else to_json(reading.usage).decode(),
        thinking_requested=asked.thinking,
        thinking_budget_requested=asked.budget,
        effort_requested=asked.effort,
        effort_requested_raw=asked.effort_raw,
        effort_applied=effort.effort,
        effort_applied_source=effort.source,
        effort_change=effort.change,
        service_tier_requested=asked.service_tier or exchange.service_tier_requested,
        service_tier=service_tier,
        is_batch=True if service_tier == "batch" else exchange.is_batch,
        cache_hit=exchange.cache_hit,
        cost_reported_usd=_cost(reading.cost_usd if reading.cost_usd is not None else exchange.cost_usd),
        status_code=exchange.status_code,
        error_type=error_type,
        error_message=error_message,
        latency_ms=exchange.latency_ms,
        user_id=exchange.user_id or asked.user_id,
        team=exchange.team,
        api_key_id=exchange.api_key_id,
        tags=_tags(asked.tags, exchange.tags),
        text_truncated=True if cut else exchange.text_truncated,
        sampled_fraction=exchange.sampled_fraction,
        date=_date(called_at),
    )


def _told_without_bodies(exchange: Exchange) -> tuple[object, ...]:
    counts = exchange.counts
    if counts is None or exchange.request is not None or exchange.response is not None:
        return ()
    return (exchange.model_requested, exchange.user_id, exchange.latency_ms, counts.input, counts.output)


def _effort(
    exchange: Exchange,
    reading: Reading,
    asked: Asked,
    texts: Texts,
    *,
    model: str | None,
    called_at: int | None,
    failed: bool,
) -> AppliedEffort:
    fallback = _sent_to_fallback(asked, model) if reading.fell_back else None
    effort = applied(
        fallback or asked,
        reported=reading.effort_reported or texts.effort,
        is_echo=reading.effort_is_echo,
        model=model,
        called_at=called_at,
        failed=failed,
        sent=not exchange.request_rewritten,
    )
    if fallback is not None:
        return applied_by_fallback(effort, asked)
    if effort.effort is not None and reading.effort_source is not None:
        return effort._replace(source=reading.effort_source)
    return effort


def _sent_to_fallback(asked: Asked, model: str | None) -> Asked:
    """What the fallback that answered was sent: its entry's; the request's own where the provider chose the fallback.

    A response may name a dated snapshot of the model that the request names.
    """
    if asked.fallbacks is None:
        return asked
    names = [name for name in asked.fallbacks if model is not None and model.startswith(name)]
    return asked.fallbacks[max(names, key=len)] if names else Asked()


def _tokens(exchange: Exchange, reading: Reading, asked: Asked) -> Tokens:
    counts = reading.counts
    if counts is None or _counts_nothing(counts, reading, exchange):
        stated = exchange.counts
        counts = (
            Counts()
            if stated is None
            else Counts(stated.input, stated.output, stated.reasoning, stated.total, stated.cached, stated.cache_write)
        )
    if exchange.reasoning_estimated:
        counts.estimated = True
    ended_by_length = reading.finish is FinishReason.LENGTH
    return settle(counts, output_limit=asked.max_output_tokens, ended_by_length=ended_by_length)


def _counts_nothing(counts: Counts, reading: Reading, exchange: Exchange) -> bool:
    """Zeros beside a text: none is made of no tokens. What a filter says, or a cache, may have cost none."""
    is_zero = counts.prompt == 0 and counts.completion == 0 and not counts.total
    no_model = reading.finish in (FinishReason.CONTENT_FILTER, FinishReason.ERROR) or exchange.cache_hit is True
    return is_zero and not no_model and any(piece.text for piece in reading.pieces)


def _streamed(exchange: Exchange, asked: Asked, protocol: WireProtocol | None, *, listed: bool) -> bool | None:
    if asked.stream or (isinstance(exchange.response, Stream) and not listed):
        return True
    by_url = urls.streams(exchange.url) if exchange.url else None
    if by_url is not None:
        return by_url
    if exchange.request is not None and protocol is not None and protocol.NAME not in urls.STREAMED_BY_URL:
        return bool(exchange.streamed)
    return exchange.streamed


def _form(texts: Texts, tokens: Tokens) -> ThinkingForm | None:
    if texts.form is not None:
        return texts.form
    hidden = bool(tokens.reasoning) or tokens.basis is ReasoningBasis.INFERRED
    return ThinkingForm.TOKENS_ONLY if hidden else None


def _finish(reading: Reading, texts: Texts, *, failed: bool) -> FinishReason | None:
    if failed and reading.finish is not FinishReason.ABORTED:
        return FinishReason.ERROR
    if reading.finish is FinishReason.STOP and texts.tool_calls:
        return FinishReason.TOOL_CALLS
    return reading.finish


def _counts_disagree(stated: StatedCounts | None, counts: Counts | None, tokens: Tokens) -> bool | None:
    """Whether the envelope's own counts differ from the body's; null where either side has none to compare.

    Envelopes count input with or without its cached parts, and output with or without reasoning: a stated count agrees
    when it equals any of the body's readings.
    """
    if stated is None or counts is None:
        return None
    without_cache = None if tokens.input is None else tokens.input - (tokens.cached or 0) - (tokens.cache_write or 0)
    without_reasoning = None if tokens.output is None else tokens.output - (tokens.reasoning or 0)
    pairs = (
        (stated.input, (tokens.input, counts.prompt, without_cache)),
        (stated.output, (tokens.output, counts.completion, without_reasoning)),
        (stated.reasoning, (tokens.reasoning,)),
    )
    known = [(one, others) for one, others in pairs if one is not None and others[0] is not None]
    return any(one not in others for one, others in known) if known else None


def _tags(asked: dict[str, str] | None, envelope: dict[str, str] | None) -> dict[str, str] | None:
    return {**(asked or {}), **(envelope or {})} or None


def _cost(amount: Decimal | None) -> Decimal | None:
    if amount is None or not amount.is_finite() or abs(amount) >= Decimal("1e20"):
        return None
    return _EXACT.quantize(amount, _COST_STEP)


def _date(called_at: int | None) -> int | None:
    return None if called_at is None else clock.to_date(called_at)

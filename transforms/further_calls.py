"""Calls that other models' runs within one answer are: billed at their own price, without a text of their own."""

from hashlib import blake2b

from schemas.call import Call
from schemas.reading import FurtherSpend
from schemas.vocabulary import FinishReason, ReasoningBasis, ThinkingForm
from transforms.json_text import to_json
from transforms.usage import settle

PART_OF = "part_of"
"""The tag that holds the ``call_id`` of the call whose answer the run was for."""
ITERATION = "iteration"
"""The tag that says what the run was for."""


def further_calls(call: Call, spends: list[FurtherSpend]) -> list[Call]:
    """Give each further spend as a call: who, when and where are the answer's, what was run and counted is its own.

    Nothing of the request is repeated, since it asked another model; nor are the cost and the latency, which stand
    for the whole answer. The identity follows from the answer's and the spend's place in it.
    """
    return [_further_call(call, spend, place) for place, spend in enumerate(spends)]


def _further_call(call: Call, spend: FurtherSpend, place: int) -> Call:
    tokens = settle(spend.counts, output_limit=None, ended_by_length=False)
    thought = bool(tokens.reasoning) or tokens.basis is ReasoningBasis.INFERRED
    return Call(
        call_id=blake2b(f"{call.call_id}\0{place}".encode(), digest_size=16, person=b"further").hexdigest(),
        source=call.source,
        source_file=call.source_file,
        source_position=call.source_position,
        session_id=call.session_id,
        called_at=call.called_at,
        provider=call.provider,
        billed_by=call.billed_by,
        protocol=call.protocol,
        model_requested=spend.model,
        model=spend.model,
        streamed=call.streamed,
        thinking_form=ThinkingForm.TOKENS_ONLY if thought else None,
        tool_calls=0,
        choices=1,
        finish_reason=FinishReason.STOP,
        input_tokens=tokens.input,
        cached_input_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_write,
        cache_write_1h_tokens=tokens.cache_write_1h,
        output_tokens=tokens.output,
        reasoning_tokens=tokens.reasoning,
        reasoning_basis=tokens.basis,
        reasoning_basis_source=tokens.basis_source,
        reasoning_tokens_source=tokens.source,
        usage_raw=to_json(spend.usage).decode(),
        service_tier_requested=call.service_tier_requested,
        service_tier=call.service_tier,
        is_batch=call.is_batch,
        cache_hit=call.cache_hit,
        status_code=call.status_code,
        user_id=call.user_id,
        team=call.team,
        api_key_id=call.api_key_id,
        tags={**(call.tags or {}), PART_OF: call.call_id, ITERATION: spend.purpose},
        sampled_fraction=call.sampled_fraction,
        date=call.date,
    )

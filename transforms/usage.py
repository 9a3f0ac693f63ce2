"""Token arithmetic: which tokens are input, which are billed output, and whether the output count holds the reasoning.

Providers and gateways disagree on whether reasoning is part of the output count, and the same field names are used both
ways. The record's own total decides, never the provider's name. With P prompt, C completion, R reasoning, T total:

    observed                                                       basis            output
    R > 0 and T = P + C + R                                        on_top           C + R
    the body proves one reading (a cost, a gateway's own sum)      as proven        C or C + R
    R <= C and T = P + C                                           inside           C
    R > C, and C is exactly the limit that ended the call          inside           C
    R > C and T = P + C, a shape documented as on top              on_top           C + R
    R > C and T = P + C, no proof                                  unknown          C, a lower bound
    R = 0 or absent, T > P + C and nothing listed explains it      inferred         T - P
    R absent otherwise                                             null             C
    no total: the protocol's convention, else R > C                as documented    C or C + R
    none of these                                                  unknown          C, a lower bound

The first row that holds is taken. They are the design's (3.3) but for one: a proof also beats ``T = P + C`` where
R <= C, since a gateway that leaves reasoning out of both (Vercel over Gemini) gives that sum too.
Sources: protocols-openai-shaped 1.3 and 5, protocols-native 1.1 and 1.2.
"""

from typing import NamedTuple

from schemas.reading import Counts
from schemas.vocabulary import BasisSource, CountSource, ReasoningBasis

_INSIDE, _ON_TOP = ReasoningBasis.INSIDE, ReasoningBasis.ON_TOP


class Tokens(NamedTuple):
    """The token columns of one call; null is not reported. The cached counts are parts of ``input``."""

    input: int | None
    cached: int | None
    cache_write: int | None
    cache_write_1h: int | None
    output: int | None
    reasoning: int | None
    basis: ReasoningBasis | None
    basis_source: BasisSource | None
    source: CountSource | None
    """Who counted the reasoning."""


class _Output(NamedTuple):
    tokens: int | None
    basis: ReasoningBasis | None = None
    decided_by: BasisSource | None = None


def settle(counts: Counts, *, output_limit: int | None = None, ended_by_length: bool = False) -> Tokens:
    """Say what a usage object's counts mean together.

    ``output_limit`` is the request's own limit in tokens and ``ended_by_length`` whether the call ran into it. Nothing
    is invented: what the record does not prove stays null, and no count becomes negative.
    """
    prompt = _whole_input(counts)
    completion = counts.completion
    at_limit = ended_by_length and completion is not None and completion == output_limit
    if completion is None:
        output = _without_completion(counts, prompt)
    elif counts.reasoning is None:
        output = _without_reasoning(counts, completion, _gap(counts, prompt, completion))
    else:
        gap = _gap(counts, prompt, completion)
        output = _with_reasoning(counts, completion, counts.reasoning, gap, at_limit=at_limit)
    return Tokens(
        prompt,
        counts.cached,
        counts.cache_write,
        counts.cache_write_1h,
        output.tokens,
        counts.reasoning,
        output.basis,
        output.decided_by,
        _counted_by(counts),
    )


def _counted_by(counts: Counts) -> CountSource | None:
    if counts.reasoning is None:
        return None
    return CountSource.ESTIMATED if counts.estimated else CountSource.REPORTED


def _whole_input(counts: Counts) -> int | None:
    """The prompt, with the listed input tokens that stand outside it: so says the total, or they are more than it.

    xAI was seen with more cached tokens than prompt tokens (protocols-openai-shaped 1.3).
    """
    prompt = counts.prompt
    if prompt is None:
        return None
    whole = prompt + _listed_in_the_gap(counts, prompt)
    for cache in (counts.cached, counts.cache_write):
        if cache is not None and cache > whole:
            whole += cache
    return whole


def _listed_in_the_gap(counts: Counts, prompt: int) -> int:
    """Input tokens listed in the details that explain exactly why the total is above prompt and completion, else 0."""
    completion, total, reasoning = counts.completion, counts.total, counts.reasoning or 0
    if completion is None or total is None:
        return 0
    gap = total - prompt - completion
    if gap <= 0 or gap == reasoning:
        return 0
    cached, written = counts.cached or 0, counts.cache_write or 0
    for listed in (counts.beside, cached, written, cached + written, counts.beside + cached):
        if listed and gap in (listed, listed + reasoning):
            return listed
    return 0


def _gap(counts: Counts, prompt: int | None, completion: int) -> int | None:
    """What the total holds beyond input and completion; null where no total can be compared.

    A total may leave the cached input out (Bedrock Converse, protocols-native 5): it is then compared without it.
    """
    if prompt is None or counts.total is None:
        return None
    gap = counts.total - prompt - completion
    if gap < 0:
        cached, written = counts.cached or 0, counts.cache_write or 0
        for left_out in (cached, written, cached + written):
            if gap + left_out in (0, counts.reasoning):
                return gap + left_out
    return gap


def _without_reasoning(counts: Counts, completion: int, gap: int | None) -> _Output:
    """No reasoning count: only a gap that nothing explains shows hidden thinking."""
    if gap is None or gap <= 0:
        return _Output(completion)
    if counts.beside:  # some of the gap may be input
        return _Output(completion, ReasoningBasis.UNKNOWN)
    return _Output(completion + gap, ReasoningBasis.INFERRED, BasisSource.TOTAL)


def _with_reasoning(counts: Counts, completion: int, reasoning: int, gap: int | None, *, at_limit: bool) -> _Output:
    if reasoning and gap == reasoning:
        return _Output(completion + reasoning, _ON_TOP, BasisSource.TOTAL)
    if counts.proof is not None:
        return _read_as(counts.proof, completion, reasoning, BasisSource.PROOF)
    if gap is None:
        return _without_total(counts, completion, reasoning, at_limit=at_limit)
    if gap == 0:
        return _in_an_even_total(counts, completion, reasoning, at_limit=at_limit)
    if gap > 0 and reasoning == 0 and not counts.beside:
        return _Output(completion + gap, ReasoningBasis.INFERRED, BasisSource.TOTAL)
    return _Output(completion, ReasoningBasis.UNKNOWN)


def _in_an_even_total(counts: Counts, completion: int, reasoning: int, *, at_limit: bool) -> _Output:
    """T = P + C: the reasoning is a part of C, or it is left out of both."""
    if reasoning <= completion:
        return _Output(completion, _INSIDE, BasisSource.TOTAL)
    if at_limit:  # had reasoning come on top, the call would have passed its limit
        return _Output(completion, _INSIDE, BasisSource.PROOF)
    if counts.convention is _ON_TOP:
        return _Output(completion + reasoning, _ON_TOP, BasisSource.PROTOCOL)
    return _Output(completion, ReasoningBasis.UNKNOWN)


def _without_total(counts: Counts, completion: int, reasoning: int, *, at_limit: bool) -> _Output:
    """What is documented holds, unless there is more reasoning than could be a part of the completion."""
    if reasoning <= completion or counts.convention is _ON_TOP:
        if counts.convention is None:
            return _Output(completion, ReasoningBasis.UNKNOWN)
        return _read_as(counts.convention, completion, reasoning, BasisSource.PROTOCOL)
    if at_limit:
        return _Output(completion, _INSIDE, BasisSource.PROOF)
    if counts.estimated:  # an estimate proves nothing
        return _Output(completion, ReasoningBasis.UNKNOWN)
    return _Output(completion + reasoning, _ON_TOP, BasisSource.PROOF)


def _read_as(basis: ReasoningBasis, completion: int, reasoning: int, decided_by: BasisSource) -> _Output:
    return _Output(completion + reasoning if basis is _ON_TOP else completion, basis, decided_by)


def _without_completion(counts: Counts, prompt: int | None) -> _Output:
    """No completion count: what the total holds beyond the input is all output, however reasoning is counted in it.

    Proto3 and Go drop zeros, so that the field is missing where nothing was answered (protocols-native 1.8).
    """
    reasoning = counts.reasoning
    rest = _rest(counts, prompt)
    if reasoning is None:
        return _Output(rest)
    if rest is not None and (rest == 0 or reasoning > rest):  # the total leaves the reasoning out
        return _with_reasoning(counts, rest, reasoning, 0, at_limit=False)
    if counts.proof is not None:
        return _Output(rest, counts.proof, BasisSource.PROOF)
    if counts.convention is not None:
        return _Output(rest, counts.convention, BasisSource.PROTOCOL)
    return _Output(rest, ReasoningBasis.UNKNOWN)


def _rest(counts: Counts, prompt: int | None) -> int | None:
    """The total less the input; null where that is not sure to be output alone."""
    if prompt is None or counts.total is None or counts.total < prompt:
        return None
    rest = counts.total - prompt
    if rest and (counts.beside or prompt != counts.prompt):
        return None
    return rest

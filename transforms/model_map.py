"""Which prices a call's model has: looked up once for each model that a lake holds, with the rule that found them."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import pyarrow as pa
from genai_prices.data import providers
from genai_prices.types import ModelInfo, Provider

from schemas.model_profiles import bare_name
from schemas.prices import MODEL_MAP_SCHEMA, CallModel, Match, Rule, overrides

CONTRACT = "contract:"
"""Before the biller's name: the provider of a contract's prices."""
_DATE_AT_END = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$")

PriceKeys = Mapping[tuple[str, str], int]
"""The price_key of each provider and model of the price table."""


def model_map(models: Iterable[CallModel], keys: PriceKeys) -> pa.Table:
    """Match models to the price table in force; who has no price has no price_key."""
    rows = []
    for model in models:
        match = match_of(model, keys)
        key = keys.get((match.provider, match.model)) if match.provider and match.model else None
        if match.model and key is None:
            match = Match(Rule.NOT_IN_TABLE)
        found = {"rule": match.rule, "price_provider": match.provider, "price_model": match.model, "price_key": key}
        rows.append(model._asdict() | found)
    return pa.Table.from_pylist(rows, schema=MODEL_MAP_SCHEMA)


def match_of(call: CallModel, contracts: Collection[tuple[str, str]] = ()) -> Match:
    """Find a model's prices: its contract's, else those of whoever bills it, else none.

    ``contracts`` holds, among others, the (``contract:biller``, model) pairs that have a contract. A biller that the
    price table does not know has no prices, though the model's maker may have: the maker did not bill.
    """
    biller = call.billed_by or call.provider
    if call.model is None or biller is None:
        return Match(Rule.NO_MODEL if call.model is None else Rule.UNKNOWN_PROVIDER)
    name = call.model.lower()
    for rule, known_as in ((Rule.CONTRACT, name), (Rule.CONTRACT_UNDATED, _DATE_AT_END.sub("", name))):
        if (CONTRACT + biller, known_as) in contracts:
            return Match(rule, CONTRACT + biller, known_as)
    if call.billed_by is None and call.protocol in overrides().own_machine:
        return Match(Rule.NO_BILLER)
    provider = price_provider(biller)
    return _in_list(provider, name) if provider else Match(Rule.UNKNOWN_PROVIDER)


def price_provider(biller: str) -> Provider | None:
    """The package's provider of one of our providers or billers, by its exact id; null where it has none."""
    wanted = overrides().providers.get(biller, biller)
    return next((provider for provider in providers if provider.id == wanted), None)


def _in_list(provider: Provider, name: str) -> Match:
    for place, candidate in enumerate(_names(name)):
        found = provider.find_model(candidate, all_providers=providers)
        if found is None:
            continue
        if not any(found is own for own in provider.models):
            [maker] = [other for other in providers if any(found is model for model in other.models)]
            return Match(Rule.OTHER_PROVIDER, provider.id, f"{maker.id}/{found.id}")
        return Match(_rule(found, candidate, stripped=place > 0), provider.id, found.id)
    return Match(Rule.UNKNOWN_MODEL)


def _rule(found: ModelInfo, name: str, *, stripped: bool) -> Rule:
    if stripped:
        return Rule.WITHOUT_PREFIX
    return Rule.EXACT if found.id.lower() == name else Rule.PATTERN


def _names(name: str) -> Iterator[str]:
    """The name as it is, then without what gateways put before it, then as its maker spells it."""
    yield name
    *heads, tail = name.split("/")
    if all(head in overrides().prefixes for head in heads):
        if heads and not tail.startswith(overrides().open_weights):
            yield tail
        if bare_name(tail) != tail:
            yield bare_name(tail)

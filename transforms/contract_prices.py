"""Contract prices from a CSV file, laid over the list: where and while a contract says something, it is what counts."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from itertools import groupby, pairwise
from pathlib import Path

from pydantic import ValidationError

from schemas.prices import Basis, CallModel, ContractLine, Price, Rates
from transforms.model_map import CONTRACT, match_of

_Key = tuple[str, str]


class ContractError(ValueError):
    """The CSV file says no prices; the text says which line, and what to do."""


def read_contract(path: Path) -> list[Price]:
    """Read a contract: a header with the names of ``ContractLine``'s fields, then a line for each rate.

    Raises:
        ContractError: the file is unreadable, or a line is wrong or says what another one says.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, strict=True)
            _check_header(path, reader.fieldnames or [])
            lines = [(reader.line_num, _line(path, reader.line_num, row)) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ContractError(f"{path}: {getattr(error, 'strerror', None) or error}; name a CSV file") from error
    if not lines:
        raise ContractError(f"{path}: there is no line under the header")
    return list(_prices(path, lines))


def lay_over(contract: Sequence[Price], listed: Sequence[Price]) -> list[Price]:
    """The contract's prices, and for each of its models what the list says of other tiers and times."""
    by_model: dict[_Key, list[Price]] = {}
    for price in listed:
        by_model.setdefault((price.provider, price.model), []).append(price)
    laid: list[Price] = []
    for (provider, model), rows in groupby(contract, key=lambda price: (price.provider, price.model)):
        own = list(rows)
        match = match_of(CallModel(provider.removeprefix(CONTRACT), None, None, model))
        found = by_model.get((match.provider, match.model), []) if match.provider and match.model else []
        laid += own
        for price in found:
            renamed = price.model_copy(update={"provider": provider, "model": model})
            laid += _outside(renamed, [row for row in own if row.tier is price.tier])
    return laid


def _check_header(path: Path, names: Sequence[str]) -> None:
    known = ContractLine.model_fields
    required = [name for name, field in known.items() if field.is_required()]
    if unknown := [name for name in names if name not in known]:
        raise ContractError(f"{path} line 1: there is no column {unknown[0]!r}; the columns are {', '.join(known)}")
    if missing := [name for name in required if name not in names]:
        raise ContractError(f"{path} line 1: the column {missing[0]!r} is missing; needed are {', '.join(required)}")


def _line(path: Path, number: int, row: Mapping[str | None, str | list[str] | None]) -> ContractLine:
    if None in row:
        raise ContractError(f"{path} line {number}: more values than columns")
    values = {str(name): value.strip() for name, value in row.items() if isinstance(value, str) and value.strip()}
    try:
        return ContractLine.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = f"{first['loc'][0]}: " if first["loc"] else ""
        said = f", not {first['input']!r}" if isinstance(first["input"], str) else ""
        raise ContractError(f"{path} line {number}: {where}{first['msg']}{said}") from error


def _prices(path: Path, lines: Iterable[tuple[int, ContractLine]]) -> Iterator[Price]:
    def model_of(entry: tuple[int, ContractLine]) -> tuple[str, str, str]:
        line = entry[1]
        return line.provider.lower(), line.model.lower(), line.tier

    for (provider, model, _), same_tier in groupby(sorted(lines, key=model_of), key=model_of):
        periods: dict[tuple[date, date], list[tuple[int, ContractLine]]] = {}
        for number, line in same_tier:
            period = (line.valid_from or date.min, line.valid_to or date.max)
            periods.setdefault(period, []).append((number, line))
        for (_, until), (since, _) in pairwise(sorted(periods)):
            if since < until:
                number = max(number for number, line in periods[since, _later(periods, since)])
                raise ContractError(f"{path} line {number}: its period overlaps another one of {provider} {model}")
        for period in sorted(periods):
            yield from _bands(path, provider, model, periods[period])


def _later(periods: Iterable[tuple[date, date]], since: date) -> date:
    return max(until for start, until in periods if start == since)


def _bands(path: Path, provider: str, model: str, lines: Sequence[tuple[int, ContractLine]]) -> Iterator[Price]:
    in_order = sorted(lines, key=lambda entry: entry[1].over_input_tokens)
    for (_, lower), (number, upper) in pairwise(in_order):
        if lower.over_input_tokens == upper.over_input_tokens:
            raise ContractError(f"{path} line {number}: {provider} {model} has another line for the same time and tier")
    if in_order[0][1].over_input_tokens:
        raise ContractError(f"{path} line {in_order[0][0]}: {provider} {model} has no line for shorter inputs")
    bounds = [line.over_input_tokens for _, line in in_order]
    for (number, line), upto in zip(in_order, [*bounds[1:], None], strict=True):
        yield Price(
            provider=CONTRACT + provider,
            model=model,
            tier=line.tier,
            valid_from=_midnight(line.valid_from),
            valid_to=_midnight(line.valid_to),
            input_from=line.over_input_tokens + 1 if line.over_input_tokens else 0,
            input_to=upto,
            rates=Rates(
                input_usd=line.input,
                cached_input_usd=line.cached_input,
                cache_write_usd=line.cache_write,
                cache_write_1h_usd=line.cache_write_1h,
                output_usd=line.output,
                reasoning_usd=line.reasoning,
            ),
            basis=Basis.CONTRACT,
            source=f"{path.name} line {number}",
        )


def _outside(price: Price, taken: Sequence[Price]) -> list[Price]:
    """What is left of a list price beside the contract's periods."""
    pieces = [price]
    for period in taken:
        pieces = [piece for whole in pieces for piece in _cut(whole, period)]
    return pieces


def _cut(price: Price, period: Price) -> Iterator[Price]:
    start, end = price.valid_from, price.valid_to
    if period.valid_from and (start is None or start < period.valid_from):
        before = period.valid_from if end is None else min(end, period.valid_from)
        yield price.model_copy(update={"valid_to": before})
    if period.valid_to and (end is None or period.valid_to < end):
        after = period.valid_to if start is None else max(start, period.valid_to)
        yield price.model_copy(update={"valid_from": after})


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None

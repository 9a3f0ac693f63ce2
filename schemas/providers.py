"""The registry of vendors and billers: ``providers.yaml``, checked, and looked up by model, host or name.

What the file's fields mean is said at its head.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from schemas.model_profiles import bare_name, covering_names
from schemas.yaml_text import load_yaml

_LETTERS = re.compile(r"[a-z]+")
_NO_WORD = re.compile(r"[^a-z0-9]+")


class Providers(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    families: dict[str, tuple[str, ...]]
    owners: dict[str, str]
    vendor_hosts: dict[str, str]
    billing_hosts: dict[str, str]
    vendor_names: dict[str, str]
    billing_names: dict[str, str]

    @model_validator(mode="after")
    def _says_each_thing_once(self) -> Self:
        names = [name for family in self.families.values() for name in family]
        twice = {name for name in names if names.count(name) > 1}
        twice |= self.vendor_hosts.keys() & self.billing_hosts.keys()
        twice |= self.vendor_names.keys() & self.billing_names.keys()
        if twice:
            raise ValueError(f"said twice: {', '.join(sorted(twice))}")
        return self


@cache
def providers() -> Providers:
    """Read the file. Raises ``pydantic.ValidationError`` where it is not as described."""
    return Providers.model_validate(load_yaml((files("schemas") / "providers.yaml").read_text("utf-8")))


@lru_cache(maxsize=4096)
def vendor_of_model(model: str) -> str | None:
    """Whose model it is, by its family or else by the owner named before it; null where neither is known."""
    families = _vendor_by_family()
    name = bare_name(model)
    letters = _LETTERS.match(name)
    for family in covering_names(name):
        if family in families:
            return families[family]
    if letters is not None and letters.group() in families:
        return families[letters.group()]
    owners = providers().owners
    named = re.split(r"[/.]", model.lower())[:-1]
    return next((owners[owner] for owner in reversed(named) if owner in owners), None)


@cache
def _vendor_by_family() -> dict[str, str]:
    return {name: vendor for vendor, names in providers().families.items() for name in names}


@lru_cache(maxsize=4096)
def vendor_of_host(host: str) -> str | None:
    """The vendor whose own API a host serves; null where it is another's, or not known."""
    return _first_match(host, _patterns("vendor_hosts"))


@lru_cache(maxsize=4096)
def biller_of_host(host: str) -> str | None:
    """Who bills calls to a host, a vendor itself or another; null where nobody does, or it is not known."""
    return _first_match(host, _patterns("billing_hosts")) or vendor_of_host(host)


@lru_cache(maxsize=1024)
def vendor_named(name: str) -> str | None:
    """The vendor that a log names as a call's provider, in any spelling."""
    return _by_name(name, providers().vendor_names)


@lru_cache(maxsize=1024)
def biller_named(name: str) -> str | None:
    """The biller that a log names as a call's provider, in any spelling; a vendor's name makes none."""
    return _by_name(name, providers().billing_names)


@cache
def _patterns(field: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The hosts of a field, the longest pattern first."""
    hosts: dict[str, str] = getattr(providers(), field)
    longest_first = sorted(hosts, key=lambda pattern: (-len(pattern), pattern))
    return tuple((re.compile(re.escape(pattern).replace(r"\*", ".*")), hosts[pattern]) for pattern in longest_first)


def _first_match(host: str, patterns: Iterable[tuple[re.Pattern[str], str]]) -> str | None:
    return next((name for pattern, name in patterns if pattern.fullmatch(host)), None)


def _by_name(name: str, table: dict[str, str]) -> str | None:
    words = _NO_WORD.sub("_", name.lower()).strip("_").split("_")
    cuts = ("_".join(words[:end]) for end in range(len(words), 0, -1))
    return next((table[cut] for cut in cuts if cut in table), None)

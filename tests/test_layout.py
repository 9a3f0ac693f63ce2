"""The house keeps its rules: names agree, what is declared once is complete, nothing foreign shadows our packages."""

import importlib
import re
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from schemas.call import CALL_FIELDS, COLUMNS, SCHEMA
from transforms.protocols import PROTOCOLS
from transforms.wire_protocol import WireProtocol

ROOT = Path(__file__).parents[1]
PACKAGES = ("pipelines", "schemas", "sql", "transforms")


@pytest.mark.parametrize("name", PACKAGES)
def test_import_name_is_ours(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__file__ is not None
    assert Path(module.__file__).is_relative_to(ROOT)
    assert set(packages_distributions().get(name, ["thinkledger"])) == {"thinkledger"}


def test_a_call_has_exactly_the_columns() -> None:
    assert {column.name for column in COLUMNS} == CALL_FIELDS
    assert [field.metadata[b"meaning"].decode() for field in SCHEMA] == [column.meaning for column in COLUMNS]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.NAME)
def test_protocol_offers_all_of_the_contract(protocol: WireProtocol) -> None:
    offered = [name for name in vars(WireProtocol) if not name.startswith("_")]
    assert [name for name in offered if not hasattr(protocol, name)] == []
    assert protocol.__doc__
    assert protocol.__name__ == f"transforms.protocols.{protocol.NAME}"  # type: ignore[attr-defined] # a module


def test_protocols_are_in_order_and_unique() -> None:
    names = [protocol.NAME for protocol in PROTOCOLS]
    assert names == sorted(set(names))


OURS = sorted(
    path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.suffix in {".py", ".sql", ".yaml"}
)


def test_the_lock_has_hashes_and_no_addresses() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "://" not in lock
    pinned = re.findall(r"^\S+==", lock, re.MULTILINE)
    assert lock.count("--hash=sha256:") >= len(pinned) > 50


def test_no_path_of_a_machine() -> None:
    bad = re.compile(r"(?<![\w.])/(?:home|root|tmp)/\w")
    files = [*OURS, *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    assert [path.name for path in files if bad.search(path.read_text())] == []


def test_nothing_switches_beams_type_checks_off() -> None:
    bad = re.compile(r"^from __future__ import annotations|^if TYPE_CHECKING", re.MULTILINE)
    assert [path.name for path in OURS if path.suffix == ".py" and bad.search(path.read_text())] == []

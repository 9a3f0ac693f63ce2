"""The README tells the truth: its generated parts are up to date, its commands and questions exist.

``pytest tests/test_readme.py --update-golden`` rewrites the generated parts.
"""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from click import Context, Option

from pipelines.cli import COMMANDS, main
from pipelines.query import listed
from schemas.call import COLUMNS
from schemas.envelope import built_in
from tests.reads_table import protocols_table
from transforms.envelopes import READERS

README = Path(__file__).parents[1] / "README.md"


def columns_table() -> str:
    rows = [f"| `{c.name}` | {_type(c.type)} | {c.meaning} |" for c in COLUMNS]
    return "\n".join(["| column | type | meaning |", "|---|---|---|", *rows])


def _type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return "string (dictionary)"
    if pa.types.is_list(kind):
        return "list<struct<kind, choice, start, end>>"
    return str(kind).replace(" ('tags')", "")


def questions_table() -> str:
    rows = [f"| `{question.name}` | {question.answers} |" for question in listed()]
    return "\n".join(["| question | what it answers |", "|---|---|", *rows])


def envelopes_table() -> str:
    rows = [f"| `{envelope.name}` | {envelope.title} |" for envelope in built_in()]
    return "\n".join(["| `--source` | what it is |", "|---|---|", *rows])


def transcripts_table() -> str:
    rows = [f"| `{reader.NAME}` | {(reader.__doc__ or '').splitlines()[0]} |" for reader in READERS]
    return "\n".join(["| `--source` | what it is |", "|---|---|", *rows])


GENERATED = {
    "columns": columns_table,
    "questions": questions_table,
    "envelopes": envelopes_table,
    "transcripts": transcripts_table,
    "protocols": protocols_table,
}


@pytest.mark.parametrize("part", GENERATED)
def test_generated_part_is_up_to_date(part: str, *, update_golden: bool) -> None:
    readme = README.read_text()
    fresh = f"<!-- generated: {part} -->\n{GENERATED[part]()}\n<!-- end -->"
    pattern = re.compile(rf"<!-- generated: {part} -->\n.*?<!-- end -->", re.DOTALL)
    assert pattern.search(readme), f"README has no part <!-- generated: {part} -->"
    if update_golden:
        README.write_text(pattern.sub(lambda _: fresh, readme))
        readme = README.read_text()
    assert fresh in readme


def test_every_command_is_documented() -> None:
    readme = README.read_text()
    assert [name for name in COMMANDS if f"thinkledger {name}" not in readme] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_command_and_its_options_have_help(name: str) -> None:
    command = main.get_command(Context(main), name)
    assert command is not None
    assert command.name == name
    assert command.help
    assert [option.name for option in command.params if isinstance(option, Option) and not option.help] == []

"""Mappings: what may be written in one, and what is said of one that cannot be used."""

from pathlib import Path

import pytest

from schemas.envelope import Envelope, MappingError, built_in, load
from schemas.path import All, Pick, Up, parse_path
from schemas.vocabulary import TagPolicy

MINIMAL = "name: mine\ntitle: Ours\nrecognise: {all: [prompt]}\n"


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, "utf-8")
    return str(path)


def test_built_in_mappings_are_named_as_their_files() -> None:
    files = Path(__file__).parents[1] / "schemas" / "envelopes"
    assert [envelope.name for envelope in built_in()] == sorted(file.stem for file in files.glob("*.yaml"))
    assert all(load(envelope.name) == envelope for envelope in built_in())
    assert all(envelope.title and envelope.description for envelope in built_in())


def test_only_our_own_form_stands_back() -> None:
    assert [envelope.name for envelope in built_in() if envelope.recognise.only_if_no_other] == ["exchange"]


def test_short_forms_mean_the_long_ones(tmp_path: Path) -> None:
    short = load(
        written(
            tmp_path,
            MINIMAL + "request: a\nresponse: [b, c]\nfields: {url: u, team: [t, {path: m, map: {x: y}}]}\n"
            "usage: {input: i}\ntags: {keep: [labels, {env: meta.env}]}\ninline_tags: paired_pi\n",
        )
    )
    long = Envelope.model_validate(
        {
            "name": "mine",
            "title": "Ours",
            "recognise": {"all": ["prompt"]},
            "request": {"path": ["a"]},
            "response": {"path": ["b", "c"]},
            "fields": {"url": [{"path": "u"}], "team": [{"path": "t"}, {"path": "m", "map": {"x": "y"}}]},
            "usage": {"input": {"path": ["i"]}},
            "tags": {"keep": ["labels", {"env": "meta.env"}]},
            "inline_tags": TagPolicy.PAIRED_PI,
        }
    )
    assert short == long


def test_a_mapping_may_be_json(tmp_path: Path) -> None:
    assert load(written(tmp_path, '{"name": "mine", "title": "Ours", "recognise": {"any": ["a"]}}')).name == "mine"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINIMAL + "feilds: {url: u}\n", "unknown key feilds (did you mean fields?)"),
        (MINIMAL + "xyz: {key: id}\n", "unknown key xyz (known: name, title,"),
        (MINIMAL + "fields: {url: u, stauts_code: s}\n", "unknown key fields.stauts_code (did you mean status_code?)"),
        (MINIMAL + "fields: {url: {pth: u}}\n", "unknown key fields.url.0.pth (did you mean path?)"),
        (MINIMAL + "where: [{path: a, eqq: 1}]\n", "unknown key where.0.eqq (did you mean eq?)"),
        (MINIMAL + "request: {path: a, wiht: {b: c}}\n", "unknown key request.wiht (did you mean with?)"),
        (MINIMAL + "fields: {url: {path: u, const: v}}\n", "fields.url.0: needs either path or const"),
        (MINIMAL + "fields: {latency_ms: {path: u, unit: s}}\n", "latency_ms: unit is for called_at; use scale"),
        (MINIMAL + "fields: {url: 'a..b'}\n", "'a..b' is no path from '.b' on"),
        (MINIMAL + "fields: {url: 'a[*]'}\n", "[*] stands in records only"),
        (MINIMAL + "records: a.b\n", "'a.b' has no [*]"),
        (MINIMAL + "where: [{path: a}]\n", "where.0: needs eq, in"),
        (MINIMAL + "inline_tags: none\n", "inline_tags: Input should be"),
        ("name: mine\ntitle: Ours\n", "recognise: Field required"),
        ("name: mine\ntitle: Ours\nrecognise: {none: [a]}\n", "recognise: needs all, any or equal"),
        ("name: Mine!\ntitle: Ours\nrecognise: {all: [a]}\n", "name: String should match"),
        ("- a\n", "holds no mapping, but list"),
        ("a: [b\n", "no YAML: while parsing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(MappingError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_source_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(MappingError, match="did you mean litellm"):
        load("litelm")
    with pytest.raises(MappingError, match="no such file and no built-in source"):
        load(tmp_path / "none.yaml")
    with pytest.raises(MappingError, match="directory"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("a", ("a",)),
        ("a.b-c.d_e", ("a", "b-c", "d_e")),
        ("a['x.y'].b", ("a", "x.y", "b")),
        ("a[0][-1].b", ("a", 0, -1, "b")),
        ("^.a", (Up(), "a")),
        ("^.^.a", (Up(), Up(), "a")),
        ("log.entries[*]", ("log", "entries", All())),
        ("headers{name=X-Id}.value", ("headers", Pick("name", "x-id"), "value")),
        ("attributes{key=gen_ai.usage.input_tokens}", ("attributes", Pick("key", "gen_ai.usage.input_tokens"))),
    ],
)
def test_paths(text: str, steps: tuple[object, ...]) -> None:
    assert parse_path(text) == steps


@pytest.mark.parametrize("text", ["", ".a", "a.", "a..b", "a[", "a[x]", "a b", "a.^", "a{name}", "a['b"])
def test_no_paths(text: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        parse_path(text)

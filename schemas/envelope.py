"""The mapping model: one stored form of LLM calls, described without code.

A mapping is a YAML or JSON file. The built-in ones in ``schemas/envelopes/`` are also the documentation of their forms.
``schemas/path.py`` says what a path is; ``transforms/unwrap.py`` applies mappings.
"""

import difflib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from schemas.path import All, Pick, Up, parse_path
from schemas.vocabulary import TagPolicy
from schemas.yaml_text import load_yaml

_FOLDER = Path(__file__).with_name("envelopes")


class MappingError(ValueError):
    """A mapping that cannot be used: one line with the file, the key and what is wrong."""


def _record_path(text: str) -> str:
    if any(isinstance(step, All) for step in parse_path(text)):
        raise ValueError(f"{text!r}: [*] stands in records only")
    return text


def _exploding_path(text: str) -> str:
    steps = parse_path(text)
    if not any(isinstance(step, All) for step in steps) or any(isinstance(step, Up | Pick) for step in steps):
        raise ValueError(f"{text!r} has no [*], or a ^ or a picker, which stand in other paths only")
    return text


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else [value]


def _as_specs(value: Any) -> Any:
    """``a`` is short for ``{path: a}``, and a list gives alternatives: the first that is there counts."""
    return [{"path": item} if isinstance(item, str) else item for item in _listed(value)]


def _as_spec(value: Any) -> Any:
    return {"path": value} if isinstance(value, str | list) else value


RecordPath = Annotated[str, AfterValidator(_record_path)]
Paths = Annotated[tuple[RecordPath, ...], BeforeValidator(_listed)]
Scalar = str | int | float | bool | None


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())


class Recognise(_Part):
    """How a record of this form is told from all others; all that is given must hold. A key that is null is there."""

    all: Annotated[tuple[RecordPath, ...], Field(description="paths that must be there")] = ()
    any: Annotated[tuple[RecordPath, ...], Field(description="paths of which one must be there")] = ()
    none: Annotated[tuple[RecordPath, ...], Field(description="paths that must not be there")] = ()
    only: Annotated[tuple[str, ...], Field(description="keys beside which the record must have no other")] = ()
    equal: Annotated[dict[RecordPath, Scalar], Field(description="paths and the values they must have")] = {}
    only_if_no_other: Annotated[bool, Field(description="recognised only where no other form is")] = False

    @model_validator(mode="after")
    def _says_something(self) -> "Recognise":
        if not (self.all or self.any or self.equal):
            raise ValueError("needs all, any or equal")
        return self


class Test(_Part):
    """One condition on a record; all that is given must hold."""

    __test__ = False  # its name is no matter for pytest

    path: Annotated[Paths, Field(description="the first that is not null counts")]
    eq: Scalar = None
    one_of: Annotated[tuple[Scalar, ...], Field(alias="in")] = ()
    not_in: tuple[Scalar, ...] = ()
    exists: bool | None = None
    not_null: bool = False
    glob: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    not_glob: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    otherwise: Annotated[str, Field(description="what a record is where this does not hold; for the account")] = ""

    @model_validator(mode="after")
    def _tests_something(self) -> "Test":
        if not self.model_fields_set - {"path", "otherwise"}:
            raise ValueError("needs eq, in, not_in, exists, not_null, glob or not_glob")
        return self


class Body(_Part):
    """Where a body is. It may be an object, JSON text, captured stream text or a list of chunks: its value decides."""

    path: Annotated[Paths, Field(description="the first that is not empty counts")]
    beside: Annotated[
        dict[str, RecordPath],
        Field(alias="with", description="keys that the body gets from elsewhere in the record, where it has none"),
    ] = {}
    base64_if: Annotated[Test | None, Field(description="the body is base64 where this holds")] = None
    plain_text: Annotated[bool, Field(description="text that is no JSON and no stream is the answer")] = False
    plain_text_if: Annotated[Test | None, Field(description="such text is the answer where this holds")] = None
    attachments: Annotated[
        RecordPath | None,
        Field(
            description="texts by name, which stand in the body as attachment://name; one that is missing is no text"
        ),
    ] = None


class Spec(_Part):
    """One way to a value. ``map`` turns the value as spelled into another; one that it does not list is null."""

    path: RecordPath | None = None
    unit: Annotated[str | None, Field(pattern="^(s|ms|us|ns)$", description="of a time that is a number")] = None
    scale: Annotated[float | None, Field(description="factor of a number: 1000 for seconds that become ms")] = None
    since: Annotated[RecordPath | None, Field(description="of a latency: the time at which it began to pass")] = None
    map: Annotated[dict[str, str | int | float | bool], Field(description="values as spelled, and their meaning")] = {}
    contains: Annotated[str | None, Field(description="true where the text or the list at the path has this in it")] = (
        None
    )
    const: Annotated[Scalar, Field(description="the same in every record")] = None
    default: Annotated[Scalar, Field(description="where the path gives nothing")] = None

    @model_validator(mode="after")
    def _has_a_source(self) -> "Spec":
        if (self.path is None) == (self.const is None):
            raise ValueError("needs either path or const")
        return self


Specs = Annotated[tuple[Spec, ...], BeforeValidator(_as_specs)]


class Fields(_Part):
    """What the envelope knows of a call; the names and units of ``schemas.exchange.Exchange``."""

    called_at: Specs = ()
    status_code: Specs = ()
    latency_ms: Specs = ()
    url: Specs = ()
    provider: Specs = ()
    model_requested: Specs = ()
    model: Specs = ()
    response_id: Specs = ()
    streamed: Specs = ()
    session_id: Specs = ()
    user_id: Specs = ()
    team: Specs = ()
    api_key_id: Specs = ()
    service_tier_requested: Specs = ()
    is_batch: Specs = ()
    cache_hit: Specs = ()
    cost_usd: Specs = ()
    error_type: Specs = ()
    error_message: Specs = ()
    request_rewritten: Specs = ()
    reasoning_estimated: Specs = ()
    text_truncated: Specs = ()
    sampled_fraction: Specs = ()

    @model_validator(mode="after")
    def _units_are_of_times(self) -> "Fields":
        for name in self.model_fields_set - {"called_at"}:
            if any(spec.unit for spec in getattr(self, name)):
                raise ValueError(f"{name}: unit is for called_at; use scale")
        for name in self.model_fields_set - {"latency_ms"}:
            if any(spec.since for spec in getattr(self, name)):
                raise ValueError(f"{name}: since is for latency_ms")
        return self


class Tags(_Part):
    """Labels of a call: the entries of an object, ``key:value`` texts of a list, or one value under its last key."""

    keep: Annotated[
        tuple[RecordPath | dict[str, RecordPath], ...], Field(description="paths, or {name: path} to name one value")
    ]
    drop: Annotated[tuple[str, ...], Field(description="keys that are left out")] = ()


class Counted(_Part):
    """A token count of the envelope: of the first path that is there, and of all in ``add`` on top of it."""

    path: Paths
    add: tuple[RecordPath, ...] = ()


OneCount = Annotated[Counted | None, BeforeValidator(_as_spec)]


class Usage(_Part):
    """Token counts that the envelope itself states; they are compared with the body's, and never replace them."""

    input: OneCount = None
    output: OneCount = None
    reasoning: OneCount = None
    total: OneCount = None
    cached: Annotated[OneCount, Field(description="the part of the input that was read from a cache")] = None
    cache_write: Annotated[OneCount, Field(description="the part of the input that was written to a cache")] = None


OneBody = Annotated[Body | None, BeforeValidator(_as_spec)]


class Envelope(_Part):
    """One stored form. Its name is the value of the column ``source``."""

    name: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    title: str
    opens: Annotated[bool, Field(description="a response that is itself a record of another form is read as that")] = (
        False
    )
    description: str = ""
    recognise: Recognise
    records: Annotated[str | None, AfterValidator(lambda path: path and _exploding_path(path))] = None
    where: tuple[Test, ...] = ()
    request: OneBody = None
    response: OneBody = None
    fields: Fields = Fields()
    tags: Tags | None = None
    usage: Usage = Usage()
    inline_tags: TagPolicy = TagPolicy.LEADING


def load(path_or_name: str | Path, others: Sequence[str] = ()) -> Envelope:
    """A built-in mapping by its name, or one from a file.

    Raises:
        MappingError: it is neither, or no mapping. ``others`` are further names that may have been meant.
    """
    named = _FOLDER / f"{path_or_name}.yaml"
    path = named if named.parent == _FOLDER and named.is_file() else Path(path_or_name)
    try:
        content = load_yaml(path.read_text("utf-8"))
    except FileNotFoundError:
        names = [*(file.stem for file in _built_in_files()), *others]
        raise MappingError(
            f"{path_or_name}: no such file and no built-in source{_meant(str(path_or_name), names)}"
        ) from None
    except OSError as error:
        raise MappingError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MappingError(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise MappingError(f"{path}: holds no mapping, but {type(content).__name__}")
    try:
        return Envelope.model_validate(content)
    except ValidationError as error:
        raise MappingError(f"{path}: {_first(error)}") from None


@cache
def built_in() -> tuple[Envelope, ...]:
    """All mappings of this house, by name."""
    return tuple(load(file) for file in _built_in_files())


def _built_in_files() -> list[Path]:
    return sorted(_FOLDER.glob("*.yaml"))


def _first(error: ValidationError) -> str:
    """What is wrong first, and where; for an unknown key, which one may have been meant."""
    first = error.errors(include_url=False)[0]
    *parents, key = first["loc"] or ("",)
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {where}{_meant(str(key), _keys_at(parents))}"
    return f"{where or 'the mapping'}: {first['msg'].removeprefix('Value error, ')}"


def _keys_at(location: list[str | int]) -> list[str]:
    model: type[BaseModel] = Envelope
    for part in location:
        by_key = {field.alias or name: field for name, field in model.model_fields.items()}
        inner = _model_in(by_key[part].annotation) if part in by_key else None  # an index or a key of ours
        model = inner or model
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in get_args(annotation) if (model := _model_in(inner))), None)


def _meant(key: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    return f" (did you mean {nearest[0]}?)" if nearest else f" (known: {', '.join(known)})"

"""The base of all wire models and the field types that never fail.

Structure is strict, leaves are lenient: a field that only adds a fact (a count, an id, a name) reads as null when a
body holds another type there, inside pydantic's core and without a Python call. Where the type carries meaning (the
list of choices, a message's content) models declare it plainly, and another type there makes the body a reject.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import core_schema


class WireModel(BaseModel):
    """A part of a body: unknown fields are ignored, values stay as they were sent."""

    model_config = ConfigDict(extra="ignore", frozen=False, revalidate_instances="never", protected_namespaces=())


class _OrNull:
    """Marks a field whose value reads as null when it has another type."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.with_default_schema(
            core_schema.nullable_schema(handler(source)), default=None, on_error="default"
        )


class _CountSchema:
    """A count: a whole number, also where it was sent as ``12.0`` or ``"12"``; never a boolean, never negative.

    Above 2**53 it is no count but a fault: null, so that sums of counts always fit into 64 bits.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        strict = core_schema.int_schema(strict=True, ge=0, le=2**53)
        spelled = core_schema.chain_schema(
            [
                core_schema.union_schema([core_schema.float_schema(strict=True), core_schema.str_schema(strict=True)]),
                core_schema.int_schema(ge=0, le=2**53),
            ]
        )
        return core_schema.with_default_schema(
            core_schema.nullable_schema(core_schema.union_schema([strict, spelled], mode="left_to_right")),
            default=None,
            on_error="default",
        )


OrNull = _OrNull()
Text = Annotated[str | None, OrNull]
Flag = Annotated[bool | None, OrNull]
Count = Annotated[int | None, _CountSchema()]
Number = Annotated[float | None, Field(strict=True), OrNull]

"""From a body to its wire model: what does not fit becomes a reject that says where."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from schemas.reading import MalformedBodyError
from schemas.wire.lenient import WireModel

Model = TypeVar("Model", bound=WireModel)


def parse(model: type[Model], body: Mapping[str, Any]) -> Model:
    """Read a body by its model. Raises ``MalformedBodyError`` with the place and the fault of the first misfit."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise MalformedBodyError(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None

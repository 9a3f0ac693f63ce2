"""What a protocol module must offer. A module is the protocol: these are its names at module level."""

from collections.abc import Mapping
from typing import Any, Protocol

from schemas.exchange import Stream
from schemas.reading import Asked, Reading


class WireProtocol(Protocol):
    """One shape of bodies. The module's name is the protocol's id and the value of the column ``protocol``."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module constant
        """The protocol's id: the module's own name."""

    @property
    def MARKS(self) -> frozenset[str]:  # noqa: N802 - a module constant
        """Keys at the top of a body or an event: of all that it claims, each has at least one of them."""

    @property
    def PATHS(self) -> tuple[str, ...]:  # noqa: N802 - a module constant
        """Endings or parts of URL paths that serve it; asked only of failed calls whose bodies say nothing."""

    @property
    def VENDOR(self) -> str | None:  # noqa: N802 - a module constant
        """Whose API shape it is, for the column ``provider`` where the model's name does not say."""

    @property
    def BEGINS(self) -> tuple[str, str] | None:  # noqa: N802 - a module constant
        """The type of the event that begins an answer, and its key that holds the body with the answer's id.

        Null where a captured stream holds one answer only.
        """

    def claims(self, body: Mapping[str, Any]) -> bool:
        """Tell whether this is a whole body, or one event of a stream, of this protocol and of no other."""

    def claims_request(self, request: Mapping[str, Any]) -> bool:
        """Tell whether a request body is of this protocol; asked where the response's body claims nothing."""

    def fold(self, stream: Stream) -> dict[str, Any]:
        """Turn a stream's events into the body that the same answer has when it is not streamed."""

    def read(self, body: dict[str, Any]) -> Reading:
        """Read a whole body. Raises ``MalformedBodyError`` where a part that carries meaning has another type."""

    def asked(self, request: dict[str, Any]) -> Asked:
        """Read what a request asked for; never raises on a request of any shape."""

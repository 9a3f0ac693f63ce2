"""Content blocks as frameworks store them: what is read of one, whatever package wrote it.

One word in ``type`` names different shapes (reference protocols-native 1.5), and one key holds a text here and a list
there: the fields stay as they were sent, and ``transforms/content_blocks.py`` says what they mean together.
"""

from typing import Annotated, Any

from pydantic import Field

from schemas.wire.lenient import OrNull, Text, WireModel

Metadata = Annotated[dict[str, Any] | None, OrNull]


class ContentBlock(WireModel):
    """One block of a message's content."""

    type: Text = None
    text: Any = None
    content: Any = None
    thinking: Any = None
    reasoning: Any = None
    reasoning_content: Any = None
    summary: Any = None
    details: Any = None
    refusal: Any = None
    data: Any = None
    encrypted_content: Any = None
    provider_metadata: Metadata = Field(None, alias="providerMetadata")
    provider_options: Metadata = Field(None, alias="providerOptions")
    extras: Metadata = None

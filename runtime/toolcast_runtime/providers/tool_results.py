"""Conversion of a tool's result to the text and media that a provider accepts."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ..core.calls.model_content import describe_block, to_langchain_blocks
from ..core.context import ToolResponse

IMAGES = frozenset(["image/png", "image/jpeg", "image/gif", "image/webp"])
PDF = "application/pdf"
NO_MESSAGE = "The tool failed without an error message."
"""Text of an error that is empty or blank."""


@dataclass(frozen=True)
class Media:
    """Image or file in a tool's result.

    Attributes:
        mime_type: the media type.
        base64: the content as Base64 text.
        name: the file name; empty if it has none.
    """

    mime_type: str
    base64: str
    name: str = ""

    @property
    def data(self) -> bytes:
        """Content as bytes."""
        return b64decode(self.base64)

    @property
    def url(self) -> str:
        """`data:` URL with the content."""
        return f"data:{self.mime_type};base64,{self.base64}"


@dataclass(frozen=True)
class Answer:
    """Result of a call, to be converted into a provider's format.

    Attributes:
        response: the result of the call.
        name: the tool's name at the provider.
        call_id: the provider's ID of the call; empty if it has none.
        has_returns: whether the provider's tool definition contains the result's schema.
    """

    response: ToolResponse
    name: str
    call_id: str
    has_returns: bool

    @property
    def is_json(self) -> bool:
        """Whether the response is a successful JSON result without content blocks or note."""
        response = self.response
        return response.success and response.content is None and response.note is None

    def parts(self, takes: Collection[str] = ()) -> Iterator[str | Media]:
        """Yield the text and media of the response; for a failed call only text.

        Args:
            takes: the media types that the provider accepts. Other media, and media with
                invalid Base64 content, are replaced by a text that describes them.
        """
        if self.response.error is not None:
            # Anthropic and Bedrock reject an error result without text, so a blank error
            # message is replaced.
            yield self.response.error if self.response.error.strip() else NO_MESSAGE
            blocks = self.response.content or ()
            # No provider accepts media in the result of a failed call, so media become text.
            media_blocks = [block for block in blocks if block["type"] != "text"]
            for block in to_langchain_blocks(media_blocks):
                yield from _convert_block(block, ())
        elif self.response.content is None:
            text = self.response.text()
            yield json.dumps(text) if self._is_string_result else text
        else:
            for block in to_langchain_blocks(self.response.content):
                yield from _convert_block(block, takes)
        if self.response.note is not None:
            yield self.response.note

    def list_nonblank_parts(self, accepted_types: Collection[str]) -> list[str | Media]:
        """Return the text and media of the response in order, without blank text.

        Anthropic and Bedrock reject blank text.
        """
        return [
            part
            for part in self.parts(accepted_types)
            if isinstance(part, Media) or part.strip()
        ]

    def text(self) -> str:
        """Return the response as one text without media, with "Error: " before an error.

        For formats that have no field for a failure. Parts are joined by line breaks.
        """
        text = "\n".join(str(part) for part in self.parts())
        return text if self.response.success else f"Error: {text}"

    @property
    def _is_string_result(self) -> bool:
        return self.has_returns and isinstance(self.response.result, str)


def _convert_block(
    block: dict[str, Any], accepted_types: Collection[str]
) -> Iterator[str | Media]:
    """Yield the text or media of a content block; nothing for empty text."""
    if block["type"] == "text":
        if block["text"]:
            yield block["text"]
        return
    name = block.get("extras", {}).get("filename", "")
    media = Media(block["mime_type"], block["base64"], name)
    is_accepted = media.mime_type in accepted_types and _is_base64(media)
    yield media if is_accepted else describe_block(block)


def _is_base64(media: Media) -> bool:
    try:
        b64decode(media.base64, validate=True)
    except ValueError:
        return False
    return True

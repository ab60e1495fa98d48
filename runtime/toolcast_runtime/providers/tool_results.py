"""What a model is shown of a tool's answer, as far as its provider takes it."""

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


@dataclass(frozen=True)
class Media:
    """An image or a file of an answer.

    Attributes:
        mime_type: its media type.
        base64: its content as text.
        name: of a file; empty for none.
    """

    mime_type: str
    base64: str
    name: str = ""

    @property
    def data(self) -> bytes:
        """Its content."""
        return b64decode(self.base64)

    @property
    def url(self) -> str:
        """An address that holds the content itself."""
        return f"data:{self.mime_type};base64,{self.base64}"


@dataclass(frozen=True)
class Answer:
    """A tool's answer on its way into a provider's form.

    Attributes:
        response: what the call gave.
        name: the provider's name of the tool.
        call_id: what the provider calls the call; empty where it has no name for it.
        has_returns: whether the model was told a schema of the result.
    """

    response: ToolResponse
    name: str
    call_id: str
    has_returns: bool

    @property
    def is_json(self) -> bool:
        """Whether the result itself is the answer, with no words beside or instead of it."""
        response = self.response
        return response.success and response.content is None and response.note is None

    def parts(self, takes: Collection[str] = ()) -> Iterator[str | Media]:
        """The texts that are not empty, and the media.

        Args:
            takes: the media types that the provider takes. Of other media, and of one that
                is no base64, a text says that it is there.
        """
        if self.response.error is not None:
            yield self.response.error
            blocks = self.response.content or ()
            # No provider takes media of a call that failed.
            for block in to_langchain_blocks(
                [b for b in blocks if b["type"] != "text"]
            ):
                yield from _part(block, ())
        elif self.response.content is None:
            text = self.response.text()
            yield json.dumps(text) if self._is_text_of_a_schema else text
        else:
            for block in to_langchain_blocks(self.response.content):
                yield from _part(block, takes)
        if self.response.note is not None:
            yield self.response.note

    def text(self) -> str:
        """All in one text; for forms that say in no other way that a call failed."""
        words = "\n".join(str(one) for one in self.parts())
        return words if self.response.success else f"Error: {words}"

    @property
    def _is_text_of_a_schema(self) -> bool:
        return self.has_returns and isinstance(self.response.result, str)


def _part(block: dict[str, Any], takes: Collection[str]) -> Iterator[str | Media]:
    if block["type"] == "text":
        if block["text"]:
            yield block["text"]
        return
    name = block.get("extras", {}).get("filename", "")
    media = Media(block["mime_type"], block["base64"], name)
    is_taken = media.mime_type in takes and _is_base64(media)
    yield media if is_taken else describe_block(block)


def _is_base64(media: Media) -> bool:
    try:
        b64decode(media.base64, validate=True)
    except ValueError:
        return False
    return True

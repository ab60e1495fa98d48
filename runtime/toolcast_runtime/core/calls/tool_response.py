"""What a tool answers: one shape for every caller."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ToolError(Exception):
    """A failure that a handler wants its caller to read.

    Its text is shown to the model as it is. The text of every other exception stays in
    the server's log, because it may carry secrets.
    """


class Block(dict[str, Any]):
    """One of MCP's content blocks. A handler that returns one answers with it."""


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The answer to one call: a result or an error.

    Attributes:
        result: the JSON value that the handler gave; None when there is none. Callers get
            it in plain types: a tuple as a list. What JSON does not have is a tool error.
        error: why the call failed, in words meant for the model; None on success.
        content: MCP content blocks (text, image, audio, resource, resource_link) to send
            instead of the result's own text. Handlers that answer with more than text
            return a ToolResponse with them. Blocks that clients of either protocol era
            would refuse are a tool error. Beside an error: the blocks that tell of it, where
            its words do not tell all.
    """

    result: Any = None
    error: str | None = None
    content: Sequence[Mapping[str, Any]] | None = None

    @property
    def success(self) -> bool:
        """True when there is no error."""
        return self.error is None

    def text(self) -> str:
        """The result as text: a string as it is, every other value as JSON."""
        if isinstance(self.result, str):
            return self.result
        return json.dumps(self.result, ensure_ascii=False)

    def model_dump(self) -> dict[str, Any]:
        """The result and the error as a plain mapping."""
        return {"result": self.result, "error": self.error}

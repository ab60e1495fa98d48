"""What a provider's form cannot express of a tool, and how descriptions tell it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from ...core.validation.references import pointer

_MOST_CHARACTERS = 400
_MOST_OF_FIELDS = 4_000
"""Without its fields nobody can send an object."""

_UNTOLD = frozenset("title readOnly writeOnly $comment".split())


class Severity(StrEnum):
    """How bad a loss is."""

    NOTE = "note"
    """The model still reads it, or no call depends on it."""
    WARNING = "warning"
    """The model is not told: it may send what a call refuses, or cannot send what one takes."""
    ERROR = "error"
    """The provider does not take the tool as it is."""


class Effect(StrEnum):
    """What a loss does to the arguments that the model may send."""

    WORDS = "words"
    """Nothing: the same arguments are valid."""
    WIDER = "wider"
    """The form allows arguments that the spec refuses; a call still refuses them."""
    NARROWER = "narrower"
    """The spec allows arguments that the form cannot express."""
    OTHER = "other"
    """Both: what stands below `not`, say, and is wider there."""


class Loss(NamedTuple):
    """One keyword, or one field of a spec, that a provider's form has not.

    Losses sort as they stand in a report: by tool, path and keyword.

    Attributes:
        tool: the spec's name of the tool.
        path: where in the spec, as a JSON pointer from its root: `/parameters/properties/a`.
        keyword: the keyword, or the field of the spec, that is lost.
        what: what is lost and what stands in its place, in words, without its end point.
        severity: how bad that is.
        effect: what it does to the arguments that are valid.
    """

    tool: str
    path: str
    keyword: str
    what: str
    severity: Severity = Severity.NOTE
    effect: Effect = Effect.WORDS

    def __str__(self) -> str:
        return f"{self.tool} {self.path} {self.keyword} {self.severity}: {self.what}"


class Losses:
    """The losses of one tool, as they are found.

    Args:
        tool: the spec's name of it.

    Attributes:
        is_reversed: whether they are found below `not` or the like, where what is wider makes
            the whole narrower.
    """

    def __init__(self, tool: str) -> None:
        self.is_reversed = False
        self._tool = tool
        self._found: dict[Loss, None] = {}

    def add(
        self,
        path: tuple[str | int, ...],
        keyword: str,
        what: str,
        effect: Effect = Effect.WORDS,
        severity: Severity = Severity.NOTE,
    ) -> None:
        """Notes a loss; the same one counts once."""
        if self.is_reversed and effect is not Effect.WORDS:
            effect = Effect.OTHER
        loss = Loss(self._tool, pointer(path), keyword, what, severity, effect)
        self._found[loss] = None

    def sorted(self) -> tuple[Loss, ...]:
        """All of them, each once."""
        return tuple(sorted(self._found))


def told(lost: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """What to add to a description, and the keywords that it tells.

    A keyword stands with its value as JSON, as Anthropic's and other SDKs put it:
    `(minimum: 1, maximum: 10)`. One whose value is long, or that tells a model nothing, is left
    out.
    """
    parts = {}
    for keyword, value in lost.items():
        part = "" if keyword in _UNTOLD else _part(keyword, value)
        most = _MOST_OF_FIELDS if keyword == "properties" else _MOST_CHARACTERS
        if part and len(part) <= most:
            parts[keyword] = part
    return (f"({', '.join(parts.values())})" if parts else ""), frozenset(parts)


def _part(keyword: str, value: Any) -> str:
    if keyword == "deprecated":
        return "deprecated" if value is True else ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if keyword == "examples" and isinstance(value, (list, tuple)):
        text = text[1:-1]
    return f"{'for example' if keyword == 'examples' else keyword}: {text}"


def added(description: Any, text: str) -> str:
    """A description and what is told besides."""
    return f"{description} {text}" if description else text

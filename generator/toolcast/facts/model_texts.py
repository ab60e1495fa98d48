"""The texts of a tool that reach models, each with its place in the spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..detectors.prefilter import Clues
from ..model.model import ToolSpec
from ..reading.tree import Path

__all__ = [
    "DEFINITION_FIELDS",
    "TEXT_FIELDS",
    "SurfaceText",
    "SurfaceTexts",
    "all_texts",
    "definition_texts",
    "texts_of",
]

_DEFINITION = (
    *("title", "summary", "description", "parameters", "returns"),
    *("annotations", "icons", "meta", "execution", "mcp"),
)
_PROSE = ("when_to_use", "guidance", "actions", "cli", "examples", "deprecated")

DEFINITION_FIELDS = frozenset(_DEFINITION)
"""The fields of a tool's definition."""
TEXT_FIELDS = DEFINITION_FIELDS.union(_PROSE)
"""The fields of which models read anything."""


class SurfaceText(NamedTuple):
    """One string of a spec.

    Attributes:
        path: where it stands in the spec.
        text: the string.
        is_key: it is the key of a mapping, a parameter's name for one.
    """

    path: Path
    text: str
    is_key: bool = False


class SurfaceTexts:
    """Strings of a spec in their order.

    Attributes:
        joined: all of them, a line or more each: what is not in it is in none of them.
        clues: what occurs in `joined`.
    """

    def __init__(self, spec: Mapping[str, Any], fields: Sequence[str]) -> None:
        self._spec = spec
        self._fields = [field for field in fields if field in spec]
        found: list[str] = []
        for field in self._fields:
            _collect(spec[field], found)
        self.joined = "\n".join(found)
        self.clues = Clues(self.joined)

    @cached_property
    def each(self) -> tuple[SurfaceText, ...]:
        """The strings, one by one."""
        return tuple(
            text
            for field in self._fields
            for text in texts_of(self._spec[field], (field,))
        )


def definition_texts(tool: ToolSpec) -> SurfaceTexts:
    """Every string of the tool's definition: texts, names, enums, defaults, examples."""
    return _kept(tool, "definition texts", _DEFINITION)


def all_texts(tool: ToolSpec) -> SurfaceTexts:
    """Every string that any model reads: the definition's and the prompt docs'."""
    return _kept(tool, "all texts", (*_DEFINITION, *_PROSE))


def _kept(tool: ToolSpec, name: str, fields: tuple[str, ...]) -> SurfaceTexts:
    """The texts of fields, collected once a tool: many rules ask for them."""
    if name not in tool.kept:
        if tool.document is None:
            raise ValueError(f"the tool {tool.name} was bound without its document")
        tool.kept[name] = SurfaceTexts(tool.document.value, fields)
    texts: SurfaceTexts = tool.kept[name]
    return texts


def _collect(value: Any, found: list[str]) -> None:
    """Adds the strings of a value; most rules need no more of them than that."""
    kind = value.__class__
    if kind is str:
        found.append(value)
    elif kind is dict:
        for key, inner in value.items():
            found.append(key)
            _collect(inner, found)
    elif kind is list:
        for inner in value:
            _collect(inner, found)


def texts_of(value: Any, path: Path) -> Iterator[SurfaceText]:
    """The strings of a value that stands at a path, keys before what they lead to."""
    if isinstance(value, str):
        yield SurfaceText(path, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield SurfaceText((*path, key), key, is_key=True)
            yield from texts_of(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts_of(inner, (*path, index))

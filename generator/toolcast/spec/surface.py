"""The texts of a tool that reach models, each with its place in the spec."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..reading.tree import Path
from .model import ToolSpec

__all__ = ["SurfaceText", "SurfaceTexts", "all_texts", "definition_texts"]

_DEFINITION = (
    *("title", "summary", "description", "parameters", "returns"),
    *("annotations", "icons", "meta", "execution", "mcp"),
)
_PROSE = ("when_to_use", "guidance", "actions", "cli", "examples", "deprecated")


@dataclass(frozen=True, slots=True)
class SurfaceText:
    """One string of a spec.

    Attributes:
        path: where it stands in the spec.
        text: the string.
        is_key: it is the key of a mapping, a parameter's name for one.
    """

    path: Path
    text: str
    is_key: bool = False


@dataclass(frozen=True, slots=True)
class SurfaceTexts:
    """Strings of a spec in their order.

    Attributes:
        each: the strings, one by one.
        joined: all of them, a line or more each: what is not in it is in none of them.
    """

    each: tuple[SurfaceText, ...]
    joined: str


def definition_texts(tool: ToolSpec) -> SurfaceTexts:
    """Every string of the tool's definition: texts, names, enums, defaults, examples."""
    return _kept(tool, "definition texts", _DEFINITION)


def all_texts(tool: ToolSpec) -> SurfaceTexts:
    """Every string that any model reads: the definition's and the prompt docs'."""
    return _kept(tool, "all texts", (*_DEFINITION, *_PROSE))


def _kept(tool: ToolSpec, name: str, fields: tuple[str, ...]) -> SurfaceTexts:
    """The texts of fields, collected once a tool: many rules ask for them."""
    if name not in tool.kept:
        each = tuple(_texts(tool, fields))
        tool.kept[name] = SurfaceTexts(each, "\n".join(found.text for found in each))
    texts: SurfaceTexts = tool.kept[name]
    return texts


def _texts(tool: ToolSpec, fields: tuple[str, ...]) -> Iterator[SurfaceText]:
    if tool.document is None:
        raise ValueError(f"the tool {tool.name} was bound without its document")
    spec = tool.document.value
    for field in fields:
        if field in spec:
            yield from _walk(spec[field], (field,))


def _walk(value: Any, path: Path) -> Iterator[SurfaceText]:
    if isinstance(value, str):
        yield SurfaceText(path, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield SurfaceText((*path, key), key, is_key=True)
            yield from _walk(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*path, index))

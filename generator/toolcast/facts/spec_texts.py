"""The texts of a spec that people and models read, each with its path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..model.model import Toolset, ToolSpec
from ..reading.tree import Path

__all__ = ["PROSE_FIELDS", "prose_of_tool", "prose_of_toolset"]

Prose = Iterator[tuple[Path, str]]

_TOOL = ("title", "summary", "description", "when_to_use", "guidance")
_TOOLSET = ("title", "instructions")
_SECTION = ("heading", "label", "intro", "footer")

PROSE_FIELDS = frozenset(
    [
        *(*_TOOL, "parameters", "returns"),
        *("actions", "annotations", "cli", "deprecated", "examples"),
    ]
)
"""The fields of a tool that hold texts for people and models."""


def prose_of_tool(tool: ToolSpec) -> Prose:
    """A tool's texts: its own, its parameters', its actions', its command's."""
    value = tool.document.value if tool.document else {}
    yield from _texts(value, _TOOL, ())
    for field, schema in tool.schemas.items():
        for path, subschema in schema.subschemas.items():
            yield from _texts(subschema, ("title", "description"), (field, *path))
    for name, action in _mapping(value, "actions", "values").items():
        yield from _texts(action, ("summary",), ("actions", "values", name))
    yield from _texts(_mapping(value, "annotations"), ("title",), ("annotations",))
    yield from _texts(_mapping(value, "cli"), ("comment",), ("cli",))
    yield from _texts(_mapping(value, "deprecated"), ("reason",), ("deprecated",))
    for index, example in enumerate(value.get("examples", ())):
        yield from _texts(example, ("title",), ("examples", index))


def prose_of_toolset(toolset: Toolset) -> Prose:
    """A toolset's texts: its own, its sections', its CLI block's."""
    value = toolset.document.value if toolset.document else {}
    yield from _texts(value, _TOOLSET, ())
    yield from _texts(_mapping(value, "preamble"), ("heading", "intro"), ("preamble",))
    for name, section in _mapping(value, "sections").items():
        yield from _texts(section, _SECTION, ("sections", name))
    for name, meaning in _mapping(value, "permissions").items():
        yield ("permissions", name), meaning
    for name, options in _mapping(value, "targets").items():
        path = ("targets", name)
        if isinstance(options, dict):
            yield from _texts(options, ("heading", "intro"), path)
            for index, line in enumerate(options.get("closing", ())):
                yield (*path, "closing", index), line


def _mapping(value: Mapping[str, Any], *steps: str) -> Mapping[str, Any]:
    for step in steps:
        found = value.get(step)
        value = found if isinstance(found, dict) else {}
    return value


def _texts(value: Any, keys: tuple[str, ...], path: Path) -> Prose:
    for key in keys:
        text = value.get(key) if isinstance(value, dict) else None
        if isinstance(text, str):
            yield (*path, key), text

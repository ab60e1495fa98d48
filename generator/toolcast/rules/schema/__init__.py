"""What the rules of the family `schema` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...findings import Finding
from ...json_schema.graph import JsonSchema
from ...json_schema.patterns import Pattern, pattern
from ...model.model import Toolset, ToolSpec
from ...reading.tree import SHARED, Path
from ..rule import Rule

__all__ = ["is_shared", "patterns_that", "schemas_of", "subschemas_of"]


def schemas_of(toolset: Toolset) -> Iterator[tuple[ToolSpec, str, JsonSchema]]:
    """The schemas of each tool, with the fields that hold them."""
    for tool in toolset.tools:
        for field, schema in tool.schemas.items():
            yield tool, field, schema


def subschemas_of(toolset: Toolset) -> Iterator[tuple[ToolSpec, Path, dict[str, Any]]]:
    """The subschemas of each tool's schemas, with their paths in its spec."""
    for tool, field, schema in schemas_of(toolset):
        for path, subschema in schema.subschemas.items():
            yield tool, (field, *path), subschema


def is_shared(tool: ToolSpec, path: Path) -> bool:
    """Whether a path of one of its schemas leads into the shared definitions."""
    return tool.source.shared is not None and path[:2] == SHARED


def patterns_that(
    rule: Rule,
    toolset: Toolset,
    problem: Callable[[str, Pattern], str],
    help: str,
) -> Iterator[Finding]:
    """A finding at each regular expression that has a problem.

    Args:
        rule: whose findings they are.
        toolset: whose tools' schemas are looked at.
        problem: says what is wrong with a pattern, after its text; empty when nothing is.
        help: what to do.
    """
    for tool, field, schema in schemas_of(toolset):
        if schema.has_too_many_patterns:
            continue  # `schema/unusable-pattern` says so
        for path, text, is_key in schema.patterns:
            words = problem(text, pattern(text))
            if words:
                message = f"`{text[:60]}` {words}"
                where = (field, *path)
                yield rule.at(tool, where, message, help, at_key=is_key)

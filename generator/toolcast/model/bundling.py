"""Gives each schema of a tool the shared definitions that it uses, so that it stands alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..findings import Finding, Severity
from ..json_schema.graph import JsonSchema
from ..reading.tree import SHARED
from .definitions import Definitions
from .model import ToolSpec

__all__ = ["MOST_COPIED", "bundled", "definitions_in", "too_much_copied"]

MOST_COPIED = 250_000
"""Values of definitions that the schemas of a toolset have together."""

_DEFS, _SHARED = map(str, SHARED)


def bundled(tool: ToolSpec, definitions: Definitions) -> ToolSpec:
    """The tool with what its schemas use, as the last member of their `$defs`."""
    # What the file says: this tool may have been given definitions before.
    own = {field: tool.source.tree.get(field) for field in tool.schemas}
    schemas = {
        field: _with_definitions(schema, definitions) for field, schema in own.items()
    }
    # What stands there already stands in the tool's own file.
    shared = None if any(map(definitions_in, own.values())) else definitions.source
    return replace(tool, **schemas, source=replace(tool.source, shared=shared))


def _with_definitions(schema: Any, definitions: Definitions) -> Any:
    used = definitions.used_by(JsonSchema(schema).references)
    if not used or not isinstance(schema, dict):
        return schema
    own = schema.get(_DEFS, {})
    if not isinstance(own, dict) or _SHARED in own:
        return schema  # `schema/invalid` and `schema/definition-reference` say so
    shared = {name: definitions.schemas[name] for name in used}
    return {**schema, _DEFS: {**own, _SHARED: shared}}


def too_much_copied(
    tools: Sequence[ToolSpec], definitions: Definitions
) -> Iterator[Finding]:
    """A finding where definitions that many tools use would fill memory and disk."""
    copied = sum(
        definitions.sizes[name]
        for tool in tools
        for schema in tool.schemas.values()
        for name in definitions_in(schema.value)
        if name in definitions.sizes
    )
    if copied > MOST_COPIED:
        yield definitions.source.finding(
            "yaml/too-large",
            Severity.ERROR,
            (),
            f"the schemas of this toolset would have {copied:,} values of definitions;"
            f" {MOST_COPIED:,} are the most",
            "each schema gets a copy of what it uses: make the definitions smaller, or use"
            " them in fewer tools",
        )


def definitions_in(schema: Any) -> Mapping[str, Any]:
    """The shared definitions that a schema has, by their names."""
    own = schema.get(_DEFS) if isinstance(schema, dict) else None
    shared = own.get(_SHARED) if isinstance(own, dict) else None
    return shared if isinstance(shared, dict) else {}

"""What checks are given: tools, their texts and schemas."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..facts.texts import Owner
from ..json_schema.graph import JsonSchema
from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.tree import SHARED, Path


class Where(NamedTuple):
    """Where something stands that a check is given."""

    toolset: Toolset
    workspace: Workspace


class Text(NamedTuple):
    """A text of a spec.

    Attributes:
        owner: whose it is.
        path: where it stands there.
        text: the text itself.
        is_key: it is the key of a mapping, a parameter's name for one.
        is_defined: it is part of a tool's definition.
    """

    owner: Owner
    path: Path
    text: str
    is_key: bool = False
    is_defined: bool = False


class ToolSchema(NamedTuple):
    """A schema of a tool: what it takes, or what it gives.

    Attributes:
        tool: whose it is.
        field: the field that holds it.
        graph: what is known of it.
    """

    tool: ToolSpec
    field: str
    graph: JsonSchema

    def is_shared(self, path: Path) -> bool:
        """Whether a path in it leads into the shared definitions."""
        return self.tool.source.shared is not None and path[:2] == SHARED


class SchemaNode(NamedTuple):
    """A schema inside of a tool's schema, or that itself.

    Attributes:
        tool: whose it is.
        path: where it stands in the tool's spec.
        value: what is written there.
    """

    tool: ToolSpec
    path: Path
    value: dict[str, Any]


class Parameter(NamedTuple):
    """A parameter of a tool, with the schema that its spec has for it."""

    tool: ToolSpec
    name: str
    schema: Any

    @property
    def path(self) -> Path:
        """Where it stands in the tool's spec."""
        return ("parameters", "properties", self.name)

"""What a registry takes from outside: external MCP servers and the router's model."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..rendering.shape import PythonShape
from ..spec.external import McpServer
from ..spec.model import Toolset, ToolSpec
from ..text.code import Code
from ..text.layout import Expression, Group
from ..text.python import call, code_of, encode, keyword_argument, tuple_of

__all__ = ["ExternalView", "external_view"]

# The runtime's word for a key of the spec, where they differ.
_RUNTIME_NAMES = {"max_tools": "most_tools"}
_NOT_AT_RUNTIME = frozenset(["name", "fields", "title"])


@dataclass(frozen=True)
class ExternalView:
    """The module of what comes from outside."""

    header: Code
    title: Code
    servers: Code
    taken: Code
    shape: PythonShape = PythonShape(
        (
            *("docstring", "from __future__", "from .._runtime.external_server"),
            *("from .._runtime.external_tools", "SERVERS ="),
            *("TAKEN_NAMES:", "EXTERNAL_TOOLS ="),
        ),
        frozenset(["ExternalServer", "ExternalTools"]),
    )


def external_view(
    toolset: Toolset, tools: Sequence[ToolSpec], source: Code
) -> ExternalView | None:
    """The view of a toolset's external servers; None when it has none."""
    if not toolset.mcp_servers:
        return None
    servers = tuple_of(_server(server) for server in toolset.mcp_servers)
    taken = [tool.name for tool in tools]
    taken += [name for tool in tools for name in tool.renamed_from]
    return ExternalView(
        source,
        Code(toolset.name),
        code_of(servers, 0, "SERVERS = "),
        code_of(encode(taken), 0, "TAKEN_NAMES: list[str] = "),
    )


def _server(server: McpServer) -> Group:
    values: dict[str, Any] = {"name": server.name}
    for field in dataclasses.fields(McpServer):
        if field.name not in _NOT_AT_RUNTIME:
            value = getattr(server, field.name)
            if value != _default(field):
                values[_RUNTIME_NAMES.get(field.name, field.name)] = value
    arguments: list[Expression] = [
        keyword_argument(name, _encoded(value)) for name, value in values.items()
    ]
    return call("ExternalServer", arguments)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _encoded(value: Any) -> Expression:
    if isinstance(value, tuple):
        return tuple_of(encode(item) for item in value)
    return encode(value)

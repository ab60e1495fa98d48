"""What a registry takes from outside: external MCP servers and the router's model."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Expression, Group
from ..encoders.python import call, code_of, encode, keyword_argument, tuple_of
from ..model.mcp_servers import McpServer, ToolRouter
from ..model.model import Toolset, ToolSpec
from ..rendering.output_guard import PythonShape

__all__ = ["ExternalView", "external_view"]

# The runtime's word for a key of the spec, where they differ.
_RUNTIME_NAMES = {"max_tools": "most_tools"}
_NOT_AT_RUNTIME = frozenset(["name", "fields", "title"])


class ExternalView(NamedTuple):
    """The module of what comes from outside."""

    header: Code
    title: Code
    has_servers: bool
    servers: Code
    taken: Code
    has_router: bool
    router: Code
    shape: PythonShape


def outside_import(toolset: Toolset) -> Code:
    """The registry's import of what comes from outside."""
    names = [
        *(["EXTERNAL_TOOLS"] if toolset.mcp_servers else []),
        *(["ROUTER"] if toolset.router is not None else []),
    ]
    return Code(f"from .external import {', '.join(names)}")


def external_view(
    toolset: Toolset, tools: Sequence[ToolSpec], source: Code
) -> ExternalView | None:
    """The view of what a toolset takes from outside; None when that is nothing."""
    router = toolset.router
    if not toolset.mcp_servers and router is None:
        return None
    servers = tuple_of(_server(server) for server in toolset.mcp_servers)
    taken = [tool.name for tool in tools]
    taken += [name for tool in tools for name in tool.renamed_from]
    model = call("ChatModel", _model_arguments(router) if router else [])
    return ExternalView(
        source,
        Code(toolset.name),
        bool(toolset.mcp_servers),
        code_of(servers, 0, "SERVERS = "),
        code_of(encode(taken), 0, "TAKEN_NAMES: list[str] = "),
        router is not None,
        code_of(model, 0, "MODEL = "),
        _shape(bool(toolset.mcp_servers), router is not None),
    )


def _shape(has_servers: bool, has_router: bool) -> PythonShape:
    servers, router = ["EXTERNAL_TOOLS ="], ["ROUTER ="]
    return PythonShape(
        (
            *("docstring", "from __future__"),
            *(
                ["from toolcast_runtime.external.server_settings"]
                if has_servers
                else []
            ),
            *(["from toolcast_runtime.external.external_tools"] if has_servers else []),
            *(["from toolcast_runtime.router.router"] if has_router else []),
            *(["from toolcast_runtime.router.chat_model"] if has_router else []),
            *(["SERVERS =", "TAKEN_NAMES:", *servers] if has_servers else []),
            *(["MODEL =", *router] if has_router else []),
        ),
        frozenset(["ExternalServer", "ExternalTools", "ChatModel", "Router"]),
    )


def _model_arguments(router: ToolRouter) -> list[Expression]:
    defaults = router._field_defaults
    values = {
        name: value
        for name, value in router._asdict().items()
        if name not in defaults or value != defaults[name]
    }
    return [keyword_argument(name, encode(value)) for name, value in values.items()]


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

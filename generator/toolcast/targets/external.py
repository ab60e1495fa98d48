"""`external.py`: what a registry takes from outside, MCP servers and the router's model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.python import identifier, literal
from ..model.mcp_servers import McpServer
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape
from .target import Context, header

__all__ = ["external_file", "external_names"]

_SERVER_FIELDS = (
    "command args env cwd url headers prefix tools allow restrict clients persistent"
    " connect_timeout list_timeout call_timeout max_tools"
).split()
_MODEL_FIELDS = ("base_url", "model", "api_key", "timeout", "history")
_INNER = "        "


class SettingView(NamedTuple):
    """`name=value`."""

    name: Code
    value: Code


class ServerView(NamedTuple):
    """One external server."""

    settings: Sequence[SettingView]


class ExternalView(NamedTuple):
    """The module of what comes from outside."""

    header: Code
    has_servers: bool
    servers: Sequence[ServerView]
    has_router: bool
    model: Sequence[SettingView]
    shape: PythonShape


def external_names(toolset: Toolset) -> list[str]:
    """What the module has; nothing where a toolset takes nothing from outside."""
    servers = ["EXTERNAL_TOOLS"] if toolset.mcp_servers else []
    return servers + (["ROUTER"] if toolset.router is not None else [])


def external_file(toolset: Toolset, context: Context) -> bytes | None:
    """The module's bytes; None where a toolset takes nothing from outside."""
    if not external_names(toolset):
        return None
    router = toolset.router
    model = {} if router is None else router._asdict()
    defaults = {} if router is None else router._field_defaults
    view = ExternalView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        has_servers=bool(toolset.mcp_servers),
        servers=[_server(server) for server in toolset.mcp_servers],
        has_router=router is not None,
        model=[
            _setting(name, model[name], _INNER)
            for name in _MODEL_FIELDS
            if name in model and (name, model[name]) not in defaults.items()
        ],
        shape=_shape(bool(toolset.mcp_servers), router is not None),
    )
    return context.render("registry/external.py.jinja", view)


def _server(server: McpServer) -> ServerView:
    plain = McpServer(server.name)
    values: dict[str, Any] = {"name": server.name}
    for field in _SERVER_FIELDS:
        value = getattr(server, field)
        if value != getattr(plain, field):
            # The one field that the runtime calls otherwise.
            values["most_tools" if field == "max_tools" else field] = value
    return ServerView([_setting(name, value, _INNER) for name, value in values.items()])


def _setting(name: str, value: Any, indent: str) -> SettingView:
    return SettingView(identifier(name), literal(value, f"{indent}{name}=", ","))


def _shape(has_servers: bool, has_router: bool) -> PythonShape:
    statements = ["docstring", "from __future__"]
    if has_servers:
        statements.append("from toolcast_runtime.external")
    if has_router:
        statements.append("from toolcast_runtime.router")
    if has_servers:
        statements.append("EXTERNAL_TOOLS =")
    if has_router:
        statements.append("ROUTER =")
    return PythonShape(
        tuple(statements),
        frozenset(["ExternalServer", "ExternalTools", "ChatModel", "Router"]),
    )

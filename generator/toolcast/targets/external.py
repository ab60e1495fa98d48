"""`external.py`: what a registry takes from outside, MCP servers and the router's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.json_text import pretty
from ..encoders.python import identifier, literal
from ..model.mcp_servers import McpServer
from ..model.model import Toolset
from ..rendering.output_shape import JsonShape, PythonShape
from ..servers.server_listing import MARK, ListingError, lock_members, locked_listing
from .target import Context, header, signature

__all__ = ["RUNTIME_NAMES", "external_file", "external_names", "locks_file"]

# What the runtime calls otherwise, and what it is not told.
RUNTIME_NAMES = {"max_tools": "most_tools"}
# Of a lock the runtime is told that there is one: the package has it.
_SPEC_ONLY = {"fields", "title", "lock", "locked"}
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
    has_locks: bool
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
        has_locks=any(server.lock for server in toolset.mcp_servers),
        servers=[_server(one, toolset) for one in toolset.mcp_servers],
        has_router=router is not None,
        model=[
            _setting(name, value, _INNER)
            for name, value in model.items()
            if (name, value) not in defaults.items()
        ],
        shape=_shape(bool(toolset.mcp_servers), router is not None),
    )
    return context.render("registry/external.py.jinja", view)


def locks_file(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`locks.json`: of each locked server what was reviewed of its tools."""
    locked = [server for server in toolset.mcp_servers if server.locked is not None]
    if not locked:
        return {}
    locks = {server.name: _lock(server.locked or b"") for server in locked}
    values = {
        "generated": signature(f"{toolset.folder}/toolset.yaml"),
        "servers": locks,
    }
    shape = JsonShape(tuple(values))
    return {"locks.json": context.write("locks.json", pretty(values), shape)}


def _lock(data: bytes) -> dict[str, Any]:
    try:
        listing = locked_listing(data, "the lock")
    except ListingError:
        return {"tools": []}  # a rule says what is wrong with it
    members = lock_members(listing)
    del members[MARK]
    return members


def _server(server: McpServer, toolset: Toolset) -> ServerView:
    plain = McpServer(server.name)
    values: dict[str, Any] = {"name": server.name}
    for name in (field.name for field in fields(server)):
        value = getattr(server, name)
        if name not in _SPEC_ONLY and value != getattr(plain, name):
            values[RUNTIME_NAMES.get(name, name)] = value
    if server.name in toolset.proxied_servers:
        values["is_proxied"] = True
    if server.lock is not None:
        values["is_locked"] = True
    inner = _INNER + "    "
    return ServerView([_setting(name, value, inner) for name, value in values.items()])


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

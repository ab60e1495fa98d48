"""`registry.py` of a toolset: who may have which tool, look-up and calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Entry, Expression, Group, Text
from ..encoders.names import module_name
from ..encoders.python import call, code_of, encode, keyword_argument, string, tuple_of
from ..model.endpoints import variable
from ..model.model import Client, Toolset, ToolSpec
from ..rendering.output_guard import PythonShape
from .external import outside_import

__all__ = ["RegistryView", "registry_view"]

_FUNCTIONS = (
    "get_tool",
    *(
        name + ending
        for name in (
            "get_mcp_tools",
            "get_openai_tools",
            "get_openai_tools_by_names",
            "get_always_tools",
            "get_routed_tools_catalog",
            "route_tools",
            "call_tool",
        )
        for ending in ("", "_sync")
    ),
)


class RegistryView(NamedTuple):
    """The registry's module."""

    header: Code
    title: Code
    modules: Code
    has_clients: bool
    clients: Code
    tool_clients: Code
    override: Code
    former_names: Code
    has_outside: bool
    outside_import: Code
    has_sources: bool
    has_router: bool
    has_ledger: bool
    ledger: Code
    shape: PythonShape


def registry_view(
    toolset: Toolset, tools: Sequence[ToolSpec], source: Code
) -> RegistryView:
    modules = Group(
        "{",
        [
            Entry(f"{string(tool.name)}: ", Text(string(module_name(tool.name))))
            for tool in tools
        ],
        "}",
    )
    clients = Group(
        "{",
        [Entry(f"{string(c.name)}: ", _client(c)) for c in toolset.clients],
        "}",
    )
    meant = Group(
        "{",
        [
            Entry(f"{string(tool.name)}: ", _names(tool.clients))
            for tool in tools
            if tool.clients is not None
        ],
        "}",
    )
    has_ledger = any(tool.persistent for tool in tools) or any(
        server.persistent for server in toolset.mcp_servers
    )
    former = {name: tool.name for tool in tools for name in tool.renamed_from}
    return RegistryView(
        source,
        Code(toolset.name),
        code_of(modules, 0, "MODULES: dict[str, str] = "),
        bool(toolset.clients),
        code_of(clients, 0, "CLIENTS = "),
        code_of(meant, 0, "TOOL_CLIENTS: dict[str, tuple[str, ...]] = "),
        code_of(_override(toolset), 0, "OVERRIDE = "),
        code_of(encode(former), 0, "FORMER_NAMES: dict[str, str] = "),
        bool(toolset.mcp_servers) or toolset.router is not None,
        outside_import(toolset),
        bool(toolset.mcp_servers),
        toolset.router is not None,
        has_ledger,
        code_of(_ledger(toolset), 0, "LEDGER = "),
        _registry_shape(toolset, has_ledger),
    )


def _override(toolset: Toolset) -> Expression:
    given: list[Expression] = [encode(variable(toolset, "CLIENTS_OVERRIDE"))]
    if toolset.clients_override is not None:
        given.append(encode(toolset.clients_override))
    return call("OverrideFile", given)


def _ledger(toolset: Toolset) -> Expression:
    given: list[Expression] = [
        keyword_argument("toolset", encode(toolset.name)),
        keyword_argument("variable", encode(variable(toolset, "LEDGER"))),
    ]
    given += [
        keyword_argument(name, encode(toolset.ledger[name]))
        for name in ("path", "sink")
        if name in toolset.ledger
    ]
    return call("LedgerSettings", given)


def _client(client: Client) -> Expression:
    given: list[Expression] = []
    if client.allow is None:
        given.append(keyword_argument("allow", encode("*")))
    elif client.allow:
        given.append(keyword_argument("allow", _names(client.allow)))
    if client.restrict:
        given.append(keyword_argument("restrict", _names(client.restrict)))
    return call("Client", given)


def _names(names: Sequence[str]) -> Expression:
    return tuple_of(Text(string(name)) for name in names)


def _registry_shape(toolset: Toolset, has_ledger: bool) -> PythonShape:
    has_clients = bool(toolset.clients)
    has_outside = bool(toolset.mcp_servers) or toolset.router is not None
    access = [
        "from toolcast_runtime.access.clients",
        "from toolcast_runtime.access.override_file",
    ]
    return PythonShape(
        (
            *("docstring", "from __future__"),
            *(access if has_clients else []),
            *(["from toolcast_runtime.ledger.ledger_settings"] if has_ledger else []),
            "from toolcast_runtime.registry.registry",
            *(["from .external"] if has_outside else []),
            *("from .prepared", "MODULES:"),
            *(["CLIENTS =", "TOOL_CLIENTS:", "OVERRIDE ="] if has_clients else []),
            "FORMER_NAMES:",
            *(["LEDGER ="] if has_ledger else []),
            "REGISTRY =",
            *(f"{name} =" for name in _FUNCTIONS),
        ),
        frozenset(["Client", "LedgerSettings", "OverrideFile", "Registry"]),
    )

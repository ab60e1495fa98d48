"""The tool registry: a definition and types a tool, look-up by client, and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime import LEVEL, __version__

from ..encoders.code import Code
from ..encoders.python import literal, names, words
from ..model.endpoints import variable
from ..model.model import Client, Toolset
from ..rendering.output_shape import PythonShape
from .definitions import definition_files
from .external import external_file, external_names
from .target import Context, Target, header
from .tool_types import types_file

__all__ = ["TARGET"]

_AWAITED = """
    get_mcp_tools get_openai_tools get_openai_tools_by_names get_always_tools
    get_routed_tools_catalog route_tools call_tool
""".split()
_FUNCTIONS = ["get_tool", *(name + end for name in _AWAITED for end in ("", "_sync"))]


class PackageView(NamedTuple):
    """The toolset's package."""

    header: Code
    name: Code
    requirement: Code
    level: Code
    shape: PythonShape = PythonShape(
        ("docstring", "try", "require_level()"),
        frozenset(["ImportError", "require_level"]),
    )


class ToolsPackageView(NamedTuple):
    """The package of definitions and types."""

    header: Code
    shape: PythonShape = PythonShape(("docstring",))


class ClientView(NamedTuple):
    """What one client may see and call."""

    name: Code
    allow: Code
    restrict: Code


class RegistryView(NamedTuple):
    """The registry's module."""

    header: Code
    has_clients: bool
    clients: Sequence[ClientView]
    override_variable: Code
    override_path: Code
    has_outside: bool
    outside: Code
    has_providers: bool
    has_router: bool
    has_handlers: bool
    handlers: Code
    has_sections: bool
    sections: Code
    has_ledger: bool
    name: Code
    ledger_variable: Code
    ledger_path: Code
    ledger_sink: Code
    shape: PythonShape


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """The registry's files."""
    source = header(f"{toolset.folder}/toolset.yaml")
    package = PackageView(
        source,
        words(toolset.name),
        literal(_requirement()),
        literal(LEVEL),
    )
    external = external_file(toolset, context)
    return {
        "__init__.py": context.render("registry/package.py.jinja", package),
        "registry.py": context.render(
            "registry/registry.py.jinja", _registry_view(toolset, source)
        ),
        **({} if external is None else {"external.py": external}),
        "tools/__init__.py": context.render(
            "registry/tools_package.py.jinja", ToolsPackageView(source)
        ),
        **dict(definition_files(toolset, context)),
        **dict(
            types_file(toolset, tool, context) for tool in toolset.tools_in("registry")
        ),
    }


def _requirement() -> str:
    """What a person installs: the runtime of the generator's own minor version."""
    major, minor = __version__.split(".")[:2]
    return f"toolcast-runtime>={major}.{minor},<{major}.{int(minor) + 1}"


def _registry_view(toolset: Toolset, source: Code) -> RegistryView:
    outside = external_names(toolset)
    sections = tuple(section.name for section in toolset.sections)
    has_ledger = (
        bool(toolset.ledger)
        or any(tool.persistent for tool in toolset.tools)
        or any(server.persistent for server in toolset.mcp_servers)
    )
    shown = "        "
    return RegistryView(
        header=source,
        has_clients=bool(toolset.clients),
        clients=[_client_view(client) for client in toolset.clients],
        override_variable=literal(variable(toolset, "CLIENTS_OVERRIDE")),
        override_path=literal(toolset.clients_override, f"{shown}path=", ","),
        has_outside=bool(outside),
        outside=names(outside),
        has_providers=bool(toolset.mcp_servers),
        has_router=toolset.router is not None,
        has_handlers=toolset.handlers is not None,
        handlers=literal(toolset.handlers, "    handlers=", ","),
        has_sections=bool(sections),
        sections=literal(sections, "    sections=", ","),
        has_ledger=has_ledger,
        name=literal(toolset.name),
        ledger_variable=literal(variable(toolset, "LEDGER")),
        ledger_path=literal(toolset.ledger.get("path"), f"{shown}path=", ","),
        ledger_sink=literal(toolset.ledger.get("sink"), f"{shown}sink=", ","),
        shape=_shape(toolset, has_ledger, bool(outside)),
    )


def _client_view(client: Client) -> ClientView:
    allow = "*" if client.allow is None else client.allow
    return ClientView(
        literal(client.name),
        literal(allow, "        allow=", ","),
        literal(client.restrict, "        restrict=", ","),
    )


def _shape(toolset: Toolset, has_ledger: bool, has_outside: bool) -> PythonShape:
    statements = ["docstring", "from __future__"]
    if toolset.clients:
        statements.append("from toolcast_runtime.access")
    if has_ledger:
        statements.append("from toolcast_runtime.ledger")
    statements += ["from toolcast_runtime.registry", "from ."]
    if has_outside:
        statements.append("from .external")
    if toolset.clients:
        statements.append("CLIENTS =")
    statements += ["REGISTRY =", *(f"{name} =" for name in _FUNCTIONS)]
    return PythonShape(
        tuple(statements),
        frozenset(["Client", "LedgerSettings", "OverrideFile", "Registry"]),
    )


TARGET = Target(
    name="registry",
    reads_toolset=frozenset(["mcp_servers", "router"]),
    purpose="A definition and types a tool, look-up by client, calls with validation.",
    generate=generate,
    reads=frozenset("""
        name title summary description parameters returns when_to_use annotations icons
        meta execution mcp handler clients always persistent service permission timeout
        actions renamed_from deprecated examples order
        """.split()),
)

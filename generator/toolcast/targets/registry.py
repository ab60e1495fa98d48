"""The target `registry`: a definition and types per tool, lookup by client, and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from toolcast_runtime.core.definitions.tool import ResultForm
from toolcast_runtime.core.server_settings import ExternalServer

from ..analysis.cli_commands import build_cli_definition
from ..analysis.mcp_definitions import build_mcp_definition, list_refused_paths
from ..analysis.prompt_docs import list_used_sections
from ..analysis.tool_search import has_search_hints
from ..encoders.code import Code
from ..encoders.json_text import encode_json
from ..encoders.python import (
    encode_identifier,
    encode_literal,
    encode_optional,
    join_identifiers,
)
from ..mcp_client.server_listing import (
    LOCK_MARKER,
    ListingError,
    build_lock,
    parse_lock,
)
from ..model.endpoints import build_variable_name
from ..model.mcp_servers import McpServer, ToolRouter
from ..model.model import Action, Toolset, ToolSpec
from ..model.toolset_parts import Client, omit_none
from ..rendering.output_shape import JsonShape, PythonShape, View
from .prompt_blocks import render_tool_pieces
from .target import (
    Context,
    Target,
    encode_header,
    format_signature,
    render_package_file,
)
from .tool_types import render_types_file

_INDENT = "        "


def list_external_names(toolset: Toolset) -> list[str]:
    """Return the variables that `external.py` defines; empty if there is no such file."""
    servers = ["EXTERNAL_TOOLS"] if toolset.mcp_servers else []
    return servers + (["ROUTER"] if toolset.router is not None else [])


def render_external_file(toolset: Toolset, context: Context) -> bytes | None:
    """Render `external.py`; return None without external servers and without a router."""
    if not list_external_names(toolset):
        return None
    router = toolset.router
    view = View(
        _build_external_shape(bool(toolset.mcp_servers), router is not None),
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        has_locks=any(server.lock for server in toolset.mcp_servers),
        servers=[_build_server_view(server, toolset) for server in toolset.mcp_servers],
        model=[] if router is None else list(_list_model_settings(router)),
    )
    return context.render("registry/external.py.jinja", view)


def _list_model_settings(router: ToolRouter) -> Iterator[View]:
    """Yield the settings of the router's model that differ from the runtime's defaults."""
    # Import `router` only here: it imports asyncio, which few toolsets need for generation.
    from toolcast_runtime.router import ChatModel

    defaults = ChatModel("", "")
    for name, value in vars(router).items():
        if value != getattr(defaults, name):
            yield _build_setting(name, value, _INDENT)


def render_locks_file(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return `locks.json` by path: the locked listing of each server, by server name.

    Empty if no server has a readable lock file. An invalid lock is written as a listing
    without tools.
    """
    locked = [server for server in toolset.mcp_servers if server.locked is not None]
    if not locked:
        return {}
    locks = {server.name: _read_lock(server.locked or b"") for server in locked}
    values = {
        "generated": format_signature(f"{toolset.folder}/toolset.yaml"),
        "servers": locks,
    }
    shape = JsonShape(tuple(values))
    return {"locks.json": context.write("locks.json", encode_json(values), shape)}


def _read_lock(data: bytes) -> dict[str, Any]:
    try:
        listing = parse_lock(data, "the lock")
    except ListingError:
        # The rule `spec/server-lock` reports an invalid lock file.
        return {"tools": []}
    members = build_lock(listing)
    del members[LOCK_MARKER]
    return members


def _build_server_view(server: McpServer, toolset: Toolset) -> View:
    """Build the view of an external server's settings that differ from the defaults."""
    defaults = ExternalServer("")
    values = {
        name: value
        for name in (field.name for field in fields(defaults))
        if (value := getattr(server, name)) != getattr(defaults, name)
    }
    if server.name in toolset.proxied_servers:
        values["is_proxied"] = True
    if server.lock is not None:
        values["is_locked"] = True
    indent = _INDENT + "    "
    settings = [_build_setting(name, value, indent) for name, value in values.items()]
    return View(settings=settings)


def _build_setting(name: str, value: Any, indent: str) -> View:
    return View(
        name=encode_identifier(name),
        value=encode_literal(value, f"{indent}{name}=", ","),
    )


def _build_external_shape(has_servers: bool, has_router: bool) -> PythonShape:
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


_ASYNC_FUNCTIONS = """
    get_mcp_tools get_openai_tools get_openai_tools_by_names get_always_tools
    get_routed_tools_catalog route_tools call_tool
""".split()
_FUNCTIONS = [
    "get_tool",
    *(name + suffix for name in _ASYNC_FUNCTIONS for suffix in ("", "_sync")),
]


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the files of a toolset's package, by path: registry, definitions and types."""
    source = encode_header(f"{toolset.folder}/toolset.yaml")
    external = render_external_file(toolset, context)
    tools_package = View(PythonShape(("docstring",)), header=source)
    return {
        "__init__.py": render_package_file(toolset.name, source, context),
        "registry.py": context.render(
            "registry/registry.py.jinja", _build_registry_view(toolset, source)
        ),
        **({} if external is None else {"external.py": external}),
        **render_locks_file(toolset, context),
        "tools/__init__.py": context.render(
            "registry/tools_package.py.jinja", tools_package
        ),
        **dict(render_definitions(toolset, context)),
        **dict(
            render_types_file(toolset, tool, context)
            for tool in toolset.list_target_tools("registry")
        ),
    }


def _build_registry_view(toolset: Toolset, source: Code) -> View:
    external_names = list_external_names(toolset)
    sections = tuple(
        section.name for section in list_used_sections(toolset, "registry")
    )
    # Calls of persistent tools and calls with a confirmation are recorded in the ledger.
    has_ledger = (
        bool(toolset.ledger)
        or any(tool.persistent or tool.confirm for tool in toolset.tools)
        or any(server.persistent for server in toolset.mcp_servers)
    )
    return View(
        _build_shape(toolset, has_ledger, bool(external_names)),
        header=source,
        clients=[_build_client_view(client) for client in toolset.clients],
        override_variable=encode_literal(
            build_variable_name(toolset, "CLIENTS_OVERRIDE")
        ),
        override_path=encode_literal(toolset.clients_override, f"{_INDENT}path=", ","),
        external_names=join_identifiers(external_names),
        has_providers=bool(toolset.mcp_servers),
        reserved=encode_optional(
            tuple(toolset.reserved_names) or None, "    reserved_names=", ","
        ),
        has_router=toolset.router is not None,
        handlers=encode_optional(toolset.handlers, "    handlers=", ","),
        sections=encode_optional(sections or None, "    sections=", ","),
        has_formats=toolset.formats != "assertion",
        formats=encode_literal(toolset.formats, "    formats=", ","),
        has_ledger=has_ledger,
        name=encode_literal(toolset.name),
        ledger_variable=encode_literal(build_variable_name(toolset, "LEDGER")),
        ledger_path=encode_literal(toolset.ledger.get("path"), f"{_INDENT}path=", ","),
        ledger_sink=encode_literal(toolset.ledger.get("sink"), f"{_INDENT}sink=", ","),
        ledger_keep=encode_optional(toolset.ledger.get("keep")),
        has_lifespan=toolset.lifespan is not None,
        lifespan=encode_literal(str(toolset.lifespan), _INDENT, ","),
        dependencies=encode_optional(
            tuple(toolset.dependencies) or None, f"{_INDENT}dependencies=", ","
        ),
    )


def _build_client_view(client: Client) -> View:
    allow = "*" if client.allow is None else client.allow
    return View(
        name=encode_literal(client.name),
        allow=encode_literal(allow, f"{_INDENT}allow=", ","),
        deny=encode_literal(client.deny, f"{_INDENT}deny=", ","),
        permissions=encode_optional(
            client.permissions or None, f"{_INDENT}permissions=", ","
        ),
    )


def _build_shape(toolset: Toolset, has_ledger: bool, has_external: bool) -> PythonShape:
    statements = ["docstring", "from __future__", "from toolcast_runtime"]
    if has_ledger:
        statements.append("from toolcast_runtime.ledger")
    if toolset.lifespan is not None:
        statements.append("from toolcast_runtime.lifespan")
    statements.append("from .")
    if has_external:
        statements.append("from .external")
    if toolset.clients:
        statements.append("CLIENTS =")
    statements += ["REGISTRY =", *(f"{name} =" for name in _FUNCTIONS)]
    return PythonShape(
        tuple(statements),
        frozenset("Client LedgerSettings Lifespan OverrideFile Registry".split()),
    )


def render_definitions(
    toolset: Toolset, context: Context
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each tool's JSON definition, `tools/TOOL.json`.

    Tools that `exclusions` omits from the target `registry` have no definition.
    """
    excluded: dict[str, dict[str, str]] = {}
    for exclusion in toolset.exclusions:
        excluded.setdefault(exclusion.tool, {})[exclusion.target] = exclusion.reason
    for tool in toolset.list_target_tools("registry"):
        reasons = excluded.get(tool.name, {})
        definition = _build_definition(toolset, tool, context, reasons)
        path = f"tools/{tool.module}.json"
        shape = JsonShape(tuple(definition))
        yield path, context.write(
            path, encode_json(definition, ("mcp", "prompt")), shape
        )


def _build_definition(
    toolset: Toolset, tool: ToolSpec, context: Context, excluded: Mapping[str, str]
) -> dict[str, Any]:
    """Return the fields of a tool's JSON definition, in the order of the file.

    Fields without a value are left out.

    Args:
        toolset: the toolset.
        tool: the tool.
        context: the rendering context.
        excluded: the reasons of the tool's `exclusions`, by target.

    Raises:
        ValueError: a target adds a part under a name that is already a field.
    """
    mcp = build_mcp_definition(tool, has_hints=has_search_hints(toolset))
    description = tool.model_description
    has_prompt = "prompts" in context.targets and "prompts" not in excluded
    has_mcp = "mcp" in context.targets and "mcp" not in excluded
    has_cli = "cli" in context.targets and "cli" not in excluded
    value_types = toolset.get_value_types(tool)
    values: dict[str, Any] = {
        "generated": format_signature(tool.source.file),
        "mcp": mcp,
        "summary": tool.summary,
        # The MCP definition usually contains the description, which is then not repeated.
        "description": description if description != mcp.get("description") else None,
        "section": tool.section,
        "order": tool.order,
        "prompt": render_tool_pieces(tool, context) if has_prompt else None,
        "actions": _build_actions(tool),
        "cli": build_cli_definition(toolset, tool) if has_cli else None,
        "handler": str(tool.handler) if tool.handler else None,
        "proxy": toolset.get_proxy(tool),
        "uses": list(tool.uses) or None,
        "timeout": toolset.get_timeout(tool),
        "values": value_types if value_types != "json" else None,
        "arguments_type": str(tool.arguments_type) if tool.arguments_type else None,
        "result_type": str(tool.result_type) if tool.result_type else None,
        "confirm": tool.confirm.as_json if tool.confirm else None,
        "result": _build_result(tool, mcp),
        "clients": None if tool.clients is None else list(tool.clients),
        "exclusions": dict(excluded) or None,
        "renamed_from": list(tool.renamed_from) or None,
        "always": tool.always or None,
        "persistent": tool.persistent or None,
        "service": tool.service,
        "permission": tool.permission,
        "deprecated": tool.deprecated,
        "refused_by": (list_refused_paths(mcp) or None) if has_mcp else None,
        "examples": [example.as_json for example in tool.examples] or None,
    }
    for target, part in context.definition_parts.items():
        if target in values:
            raise ValueError(f"`{target}` is already a field of the JSON definitions")
        values[target] = part(toolset, tool)
    return omit_none(**values)


def _build_result(tool: ToolSpec, mcp: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the definition's `result` field, or None if all settings are defaults.

    It contains `returns` only if clients are shown another schema as `outputSchema`.
    """
    settings = omit_none(
        send=tool.result.send if tool.result.send != ResultForm().send else None,
        budget=tool.result.budget,
        fields=tool.picks,
        returns=tool.returns if mcp.get("outputSchema") != tool.returns else None,
    )
    return settings or None


def _build_actions(tool: ToolSpec) -> dict[str, Any] | None:
    if tool.actions is None:
        return None
    # Every action accepts the parameter with which callers select fields of the result.
    extra = [tool.picks["parameter"]] if tool.picks else []
    values = {
        action.name: _build_action(action, extra) for action in tool.actions.values
    }
    return {"parameter": tool.actions.parameter, "values": values}


def _build_action(action: Action, extra_parameters: Sequence[str]) -> dict[str, Any]:
    return omit_none(
        summary=action.summary or None,
        requires=list(action.requires) or None,
        requires_any=list(action.requires_any) or None,
        accepts=(
            None if action.accepts is None else [*action.accepts, *extra_parameters]
        ),
    )


TARGET = Target(
    name="registry",
    purpose="Definitions and types, and Python functions to list and call tools.",
    generate=generate,
)

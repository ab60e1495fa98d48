"""The tool registry: a definition and types a tool, look-up by client, and calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from toolcast_runtime.core.definitions.tool import ResultForm
from toolcast_runtime.core.server_settings import ExternalServer

from ..analysis.cli_commands import cli_definition
from ..analysis.mcp_definitions import mcp_definition, refused_by
from ..analysis.prompt_docs import listed_sections
from ..analysis.tool_search import has_hints
from ..encoders.code import Code
from ..encoders.json_text import encode_json
from ..encoders.python import (
    encode_identifier,
    encode_literal,
    encode_optional,
    join_identifiers,
)
from ..mcp_client.server_listing import MARK, ListingError, lock_members, locked_listing
from ..model.endpoints import variable
from ..model.mcp_servers import McpServer, ToolRouter
from ..model.model import Action, Toolset, ToolSpec
from ..model.toolset_parts import Client, stated
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

_INNER = "        "


def list_external_names(toolset: Toolset) -> list[str]:
    """What the module has; nothing where a toolset takes nothing from outside."""
    servers = ["EXTERNAL_TOOLS"] if toolset.mcp_servers else []
    return servers + (["ROUTER"] if toolset.router is not None else [])


def render_external_file(toolset: Toolset, context: Context) -> bytes | None:
    """The module's bytes; None where a toolset takes nothing from outside."""
    if not list_external_names(toolset):
        return None
    router = toolset.router
    view = View(
        _shape_of_servers(bool(toolset.mcp_servers), router is not None),
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        has_locks=any(server.lock for server in toolset.mcp_servers),
        servers=[_server(one, toolset) for one in toolset.mcp_servers],
        model=[] if router is None else list(_model(router)),
    )
    return context.render("registry/external.py.jinja", view)


def _model(router: ToolRouter) -> Iterator[View]:
    """Yield the settings of the router's model that differ from the runtime's defaults."""
    # Imported here because it imports asyncio, which few toolsets need for generation.
    from toolcast_runtime.router import ChatModel

    plain = ChatModel("", "")
    for name, value in vars(router).items():
        if value != getattr(plain, name):
            yield _setting(name, value, _INNER)


def render_locks_file(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`locks.json`: of each locked server what was reviewed of its tools."""
    locked = [server for server in toolset.mcp_servers if server.locked is not None]
    if not locked:
        return {}
    locks = {server.name: _lock(server.locked or b"") for server in locked}
    values = {
        "generated": format_signature(f"{toolset.folder}/toolset.yaml"),
        "servers": locks,
    }
    shape = JsonShape(tuple(values))
    return {"locks.json": context.write("locks.json", encode_json(values), shape)}


def _lock(data: bytes) -> dict[str, Any]:
    try:
        listing = locked_listing(data, "the lock")
    except ListingError:
        return {"tools": []}  # a rule says what is wrong with it
    members = lock_members(listing)
    del members[MARK]
    return members


def _server(server: McpServer, toolset: Toolset) -> View:
    plain = ExternalServer("")
    values = {
        name: value
        for name in (field.name for field in fields(plain))
        if (value := getattr(server, name)) != getattr(plain, name)
    }
    if server.name in toolset.proxied_servers:
        values["is_proxied"] = True
    if server.lock is not None:
        values["is_locked"] = True
    inner = _INNER + "    "
    return View(settings=[_setting(k, value, inner) for k, value in values.items()])


def _setting(name: str, value: Any, indent: str) -> View:
    shown = encode_literal(value, f"{indent}{name}=", ",")
    return View(name=encode_identifier(name), value=shown)


def _shape_of_servers(has_servers: bool, has_router: bool) -> PythonShape:
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


_AWAITED = """
    get_mcp_tools get_openai_tools get_openai_tools_by_names get_always_tools
    get_routed_tools_catalog route_tools call_tool
""".split()
_FUNCTIONS = ["get_tool", *(name + end for name in _AWAITED for end in ("", "_sync"))]


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """The registry's files."""
    source = encode_header(f"{toolset.folder}/toolset.yaml")
    external = render_external_file(toolset, context)
    tools_package = View(PythonShape(("docstring",)), header=source)
    return {
        "__init__.py": render_package_file(toolset.name, source, context),
        "registry.py": context.render(
            "registry/registry.py.jinja", _registry_view(toolset, source)
        ),
        **({} if external is None else {"external.py": external}),
        **render_locks_file(toolset, context),
        "tools/__init__.py": context.render(
            "registry/tools_package.py.jinja", tools_package
        ),
        **dict(render_definitions(toolset, context)),
        **dict(
            render_types_file(toolset, tool, context)
            for tool in toolset.tools_in("registry")
        ),
    }


def _registry_view(toolset: Toolset, source: Code) -> View:
    outside = list_external_names(toolset)
    sections = tuple(one.name for one in listed_sections(toolset, "registry"))
    has_ledger = (
        bool(toolset.ledger)
        or any(tool.persistent or tool.confirm for tool in toolset.tools)
        or any(server.persistent for server in toolset.mcp_servers)
    )
    shown = "        "
    return View(
        _shape(toolset, has_ledger, bool(outside)),
        header=source,
        clients=[_client_view(client) for client in toolset.clients],
        override_variable=encode_literal(variable(toolset, "CLIENTS_OVERRIDE")),
        override_path=encode_literal(toolset.clients_override, f"{shown}path=", ","),
        outside=join_identifiers(outside),
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
        ledger_variable=encode_literal(variable(toolset, "LEDGER")),
        ledger_path=encode_literal(toolset.ledger.get("path"), f"{shown}path=", ","),
        ledger_sink=encode_literal(toolset.ledger.get("sink"), f"{shown}sink=", ","),
        ledger_keep=encode_optional(toolset.ledger.get("keep")),
        has_lifespan=toolset.lifespan is not None,
        lifespan=encode_literal(str(toolset.lifespan), shown, ","),
        resources=encode_optional(
            tuple(toolset.resources) or None, f"{shown}resources=", ","
        ),
    )


def _client_view(client: Client) -> View:
    allow = "*" if client.allow is None else client.allow
    before = "        "
    return View(
        name=encode_literal(client.name),
        allow=encode_literal(allow, f"{before}allow=", ","),
        restrict=encode_literal(client.restrict, f"{before}restrict=", ","),
        permissions=encode_optional(
            client.permissions or None, f"{before}permissions=", ","
        ),
    )


def _shape(toolset: Toolset, has_ledger: bool, has_outside: bool) -> PythonShape:
    statements = ["docstring", "from __future__", "from toolcast_runtime"]
    if has_ledger:
        statements.append("from toolcast_runtime.ledger")
    if toolset.lifespan is not None:
        statements.append("from toolcast_runtime.lifespan")
    statements.append("from .")
    if has_outside:
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
    """The path and the bytes of the definition of each tool of the registry."""
    excluded: dict[str, dict[str, str]] = {}
    for exclusion in toolset.exclusions:
        excluded.setdefault(exclusion.tool, {})[exclusion.target] = exclusion.reason
    for tool in toolset.tools_in("registry"):
        definition = _definition(toolset, tool, context, excluded.get(tool.name, {}))
        path = f"tools/{tool.module}.json"
        shape = JsonShape(tuple(definition))
        yield path, context.write(
            path, encode_json(definition, ("mcp", "prompt")), shape
        )


def _definition(
    toolset: Toolset, tool: ToolSpec, context: Context, excluded: Mapping[str, str]
) -> dict[str, Any]:
    """What the definition says, in its order; what is not set is absent."""
    mcp = mcp_definition(tool, has_hints=has_hints(toolset))
    description = tool.model_description
    has_prompt = "prompts" in context.targets and "prompts" not in excluded
    has_mcp = "mcp" in context.targets and "mcp" not in excluded
    has_cli = "cli" in context.targets and "cli" not in excluded
    values: dict[str, Any] = {
        "generated": format_signature(tool.source.file),
        "mcp": mcp,
        "summary": tool.summary,
        "description": description if description != mcp.get("description") else None,
        "section": tool.section,
        "order": tool.order,
        "prompt": render_tool_pieces(tool, context) if has_prompt else None,
        "actions": _actions(tool),
        "cli": cli_definition(toolset, tool) if has_cli else None,
        "handler": str(tool.handler) if tool.handler else None,
        "proxy": toolset.proxy_of(tool),
        "uses": list(tool.uses) or None,
        "timeout": toolset.seconds_of(tool),
        "values": "python" if toolset.has_python_values(tool) else None,
        "arguments_type": str(tool.arguments_type) if tool.arguments_type else None,
        "result_type": str(tool.result_type) if tool.result_type else None,
        "confirm": tool.confirm.as_json if tool.confirm else None,
        "result": _result(tool, mcp),
        "clients": None if tool.clients is None else list(tool.clients),
        "exclusions": dict(excluded) or None,
        "renamed_from": list(tool.renamed_from) or None,
        "always": tool.always or None,
        "persistent": tool.persistent or None,
        "service": tool.service,
        "permission": tool.permission,
        "deprecated": tool.deprecated,
        "refused_by": (refused_by(mcp) or None) if has_mcp else None,
        "examples": [example.as_json for example in tool.examples] or None,
    }
    for target, part in context.definition_parts.items():
        if target in values:
            raise ValueError(f"a definition has a `{target}` of its own already")
        values[target] = part(toolset, tool)
    return stated(**values)


def _result(tool: ToolSpec, mcp: Mapping[str, Any]) -> dict[str, Any] | None:
    """What is sent of results, with their schema where another one is listed."""
    said = stated(
        send=tool.result.send if tool.result.send != ResultForm().send else None,
        budget=tool.result.budget,
        fields=tool.picks,
        returns=tool.returns if mcp.get("outputSchema") != tool.returns else None,
    )
    return said or None


def _actions(tool: ToolSpec) -> dict[str, Any] | None:
    if tool.actions is None:
        return None
    # Whatever an action takes, its caller may pick.
    picks = [tool.picks["parameter"]] if tool.picks else []
    values = {action.name: _action(action, picks) for action in tool.actions.values}
    return {"parameter": tool.actions.parameter, "values": values}


def _action(action: Action, picks: Sequence[str]) -> dict[str, Any]:
    return stated(
        summary=action.summary or None,
        requires=list(action.requires) or None,
        requires_any=list(action.requires_any) or None,
        accepts=None if action.accepts is None else [*action.accepts, *picks],
    )


TARGET = Target(
    name="registry",
    purpose="A definition and types a tool, look-up by client, calls with validation.",
    generate=generate,
)

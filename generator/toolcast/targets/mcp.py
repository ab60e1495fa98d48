"""The MCP server of a toolset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Expression, Text
from ..encoders.python import call, code_of, encode, keyword_argument, string, tuple_of
from ..model.endpoints import endpoints, variable
from ..model.model import Toolset
from ..rendering.output_guard import PythonShape
from .target import Context, Target, header, package_of

__all__ = ["TARGET"]


class ServerView(NamedTuple):
    """The server's module."""

    header: Code
    name: Code
    package: Code
    tools: Code
    http: Code
    server: Code
    part_imports: Sequence[Code]
    shape: PythonShape


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`mcp_server.py`."""
    tools = toolset.tools_in("mcp")
    names = tuple_of(Text(string(tool.name)) for tool in tools)
    optional: dict[str, Any] = {
        "title": toolset.title,
        "version": toolset.version,
        "instructions": toolset.instructions,
        "client": toolset.targets.get("mcp", {}).get("client"),
    }
    arguments: list[Expression] = [
        keyword_argument("registry", Text("REGISTRY")),
        keyword_argument("tools", Text("TOOLS")),
        keyword_argument("name", encode(toolset.name)),
    ]
    arguments += [
        keyword_argument(name, encode(value))
        for name, value in optional.items()
        if value is not None
    ]
    arguments.append(keyword_argument("http", Text("HTTP")))
    if toolset.targets.get("mcp", {}).get("external"):
        arguments.append(keyword_argument("offers_sources", encode(True)))
    parts = context.server_parts
    for name in parts.values():
        routes = Text(f"tuple({name}.admin_routes)")
        arguments.append(keyword_argument("admin_routes", routes))
        arguments.append(keyword_argument("guard", Text(f"{name}.guard")))
        started = Text(f"tuple({name}.started)")
        arguments.append(keyword_argument("started", started))
    view = ServerView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        Code(package_of(context.output, toolset)),
        code_of(names, 0, "TOOLS = "),
        code_of(_http(toolset), 0, "HTTP = "),
        code_of(call("McpServer", arguments), 0, "SERVER = "),
        [Code(f"from .{module} import {name}") for module, name in parts.items()],
        _shape(parts),
    )
    return {"mcp_server.py": context.render("mcp/mcp_server.py.jinja", view)}


def _shape(parts: Mapping[str, str]) -> PythonShape:
    return PythonShape(
        (
            *("docstring", "from __future__"),
            "from toolcast_runtime.http.settings",
            "from toolcast_runtime.mcp.command",
            "from toolcast_runtime.mcp.server",
            *(f"from .{module}" for module in parts),
            *("from .registry", "TOOLS =", "HTTP =", "SERVER =", "if __name__"),
        ),
        frozenset(["Endpoint", "HttpSettings", "McpServer", "main", "tuple"]),
    )


def _http(toolset: Toolset) -> Expression:
    options = toolset.targets.get("mcp", {}).get("http", {})
    served = tuple_of(
        call(
            "Endpoint",
            (encode(plan.path), encode(plan.client), encode(plan.token_variable)),
        )
        for plan in endpoints(toolset)
    )
    admin = options.get("admin_token_variable", variable(toolset, "ADMIN_TOKEN"))
    hosts = variable(toolset, "ALLOWED_HOSTS")
    given: list[Expression] = [
        keyword_argument("endpoints", served),
        keyword_argument("admin_variable", encode(admin)),
        keyword_argument("hosts_variable", encode(hosts)),
    ]
    for name in ("allowed_hosts", "allowed_origins"):
        if options.get(name):
            words = tuple_of(Text(string(word)) for word in options[name])
            given.append(keyword_argument(name, words))
    if "max_body" in options:
        given.append(keyword_argument("max_body", encode(options["max_body"])))
    return call("HttpSettings", given)


TARGET = Target(
    name="mcp",
    purpose="An MCP server over stdio and streamable HTTP.",
    cast=cast,
    reads=frozenset(
        [
            *("name", "title", "summary", "description", "parameters", "returns"),
            *("annotations", "icons", "meta", "execution", "mcp"),
        ]
    ),
    reads_toolset=frozenset(["instructions", "version"]),
    needs=("registry",),
    options={
        "client": "The client that stdio and the default HTTP path serve.",
        "external": "Shows and calls the tools of external servers, too.",
        "http": "How the server is reached over HTTP.",
    },
)

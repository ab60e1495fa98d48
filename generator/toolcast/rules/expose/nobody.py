"""`expose/nobody`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.clients import Client
from ...model.mcp.mcp_servers import McpServer
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        # `clients: []` is a decision, and an `always` tool has a rule of its own.
        is_decided = tool.clients == () or tool.always
        # So is a permission that no client has: there it is told once, with every tool.
        is_held = tool.permission is None or toolset.is_held(tool.permission)
        if (
            toolset.clients
            and is_held
            and not is_decided
            and not any(toolset.is_offered(tool, client) for client in toolset.clients)
        ):
            yield RULE.at(
                tool,
                ("clients",) if tool.clients is not None else ("name",),
                f"no client may have `{tool.name}`",
                (
                    "add it to the `allow` of a client that is permitted it, or remove the tool"
                    if tool.permission
                    else "add it to a client's `allow`, or remove the tool"
                ),
            )
    for server in toolset.listed_servers:
        clients = toolset.clients
        if clients and not any(_may_have(client, server) for client in clients):
            yield RULE.at(
                toolset,
                ("mcp_servers", server.name),
                f"no client may have a tool of `{server.name}`",
                "name its tools in a client's `allow`, or remove the server",
                at_key=True,
            )
    yield from _offers(toolset)


def _offers(toolset: Toolset) -> Iterator[Finding]:
    """Resources and prompts that no client has."""
    for spec in toolset.mcp_specs:
        what = f"no client may have the {spec.kind} `{spec.name}`"
        if "mcp" not in toolset.targets:
            message = f"{what}: the toolset has no MCP server"
            yield RULE.at(spec, ("name",), message, "add `mcp` to its targets")
        elif toolset.clients and spec.clients is None:
            yield RULE.at(spec, ("name",), what, "name them in its `clients`")


def _may_have(client: Client, server: McpServer) -> bool:
    if server.clients is not None and client.name not in server.clients:
        return False
    if client.allow is None:
        return True
    named = (name for name in client.allow if name not in client.restrict)
    return any(server.is_named(name) for name in named)


RULE = Rule(
    id="expose/nobody",
    severity=Severity.WARNING,
    purpose="Checks that all tools, servers, resources and MCP prompts are offered to a client.",
    why="Access is closed by default, so a tool that nobody thought of is nobody's.",
    bad="""\
summary: Stores a note.
# toolset.yaml
clients: {external: {}}
targets: {registry: {}}
""",
    good="""\
summary: Stores a note.
# toolset.yaml
clients: {external: {allow: "*"}}
targets: {registry: {}}
""",
    check=check,
)

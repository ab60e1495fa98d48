"""`expose/client-contradiction`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.clients import Client
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for client in toolset.clients:
        restricted = {e.text for e in client.restrict_entries}
        for index, (name, _) in enumerate(client.allow_entries):
            if name in restricted:
                yield RULE.at(
                    toolset,
                    ("clients", client.name, "allow", index),
                    f"`{client.name}` allows and restricts `{name}`",
                    "remove it from one of the two lists; as it stands it is restricted",
                )
    for server in toolset.listed_servers:
        for index, name in enumerate(server.allow or ()):
            if name in server.restrict:
                yield RULE.at(
                    toolset,
                    ("mcp_servers", server.name, "allow", index),
                    f"`{server.name}` allows and restricts `{name}`",
                    "remove it from one of the two lists; as it stands it is restricted",
                )
    tools = {tool.name: tool for tool in toolset.tools}
    for client in toolset.clients:
        # A pattern stands for many tools, of which it need not have each.
        for index, (name, _) in enumerate(client.allow_entries):
            tool = tools.get(name)
            if tool and tool.clients is not None and client.name not in tool.clients:
                yield RULE.at(
                    toolset,
                    ("clients", client.name, "allow", index),
                    f"`{client.name}` allows `{name}`, whose own `clients` leave it out",
                    "both must agree; remove it here or add it there",
                )
            elif tool and _lacks(toolset, client, tool):
                yield RULE.at(
                    toolset,
                    ("clients", client.name, "allow", index),
                    f"`{client.name}` allows `{name}`, and lacks its permission"
                    f" `{tool.permission}`",
                    "add it to the client's `permissions`, or remove the tool here",
                )
    for tool in toolset.tools:
        for index, name in enumerate(tool.clients or ()):
            client_ = toolset.client(name)
            if client_ is not None and not client_.allows(tool.name):
                how = (
                    "restricts it"
                    if tool.name in client_.restrict
                    else "does not allow it"
                )
                yield RULE.at(
                    tool,
                    ("clients", index),
                    f"`{tool.name}` is meant for `{name}`, which {how}",
                    "both must agree; change `clients` here or in toolset.yaml",
                )
            elif client_ is not None and _lacks(toolset, client_, tool):
                yield RULE.at(
                    tool,
                    ("clients", index),
                    f"`{tool.name}` is meant for `{name}`, which lacks its permission"
                    f" `{tool.permission}`",
                    "add it to the client's `permissions`, or remove the client here",
                )


def _lacks(toolset: Toolset, client: Client, tool: ToolSpec) -> bool:
    """Whether another client has the tool's permission, and this one does not.

    A permission that no client has, and one that is not there, have rules of their own.
    """
    return not client.permits(tool) and toolset.is_held(tool.permission or "")


RULE = Rule(
    id="expose/client-contradiction",
    severity=Severity.ERROR,
    purpose="Checks that tools and clients agree on who may have what.",
    why=(
        "Both lists were right in their authors' eyes. The tool was missing for one client,"
        " and nobody had decided that."
    ),
    bad="""\
clients: [external]
# toolset.yaml
clients: {external: {allow: []}}
targets: {registry: {}}
""",
    good="""\
# note.yaml
clients: [external]
# toolset.yaml
clients: {external: {allow: [note]}}
targets: {registry: {}}
""",
    check=check,
)

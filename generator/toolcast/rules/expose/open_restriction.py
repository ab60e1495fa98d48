"""`expose/open-restriction`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    open_servers = [one for one in toolset.listed_servers if one.allow is None]
    for client in toolset.clients:
        if client.allow is not None:
            continue
        has = [
            f"`{one.name}`"
            for one in open_servers
            if one.clients is None or client.name in one.clients
        ]
        for index, entry in enumerate(client.restrict_entries):
            if has and entry.is_pattern and entry.section is None:
                yield RULE.at(
                    toolset,
                    ("clients", client.name, "restrict", index),
                    f"`{entry.text}` keeps no tool from `{client.name}` that {has[0]} lists"
                    " by itself",
                    f"name the tools that are taken of it, `allow` of {has[0]}",
                )


RULE = Rule(
    id="expose/open-restriction",
    severity=Severity.ERROR,
    purpose="Checks that patterns that restrict can stand for all tools that a client has.",
    why=(
        "A pattern is written out when the outputs are made. What a server lists at run time"
        " is not known then: `delete_*` kept the toolset's own tools from a client, and let"
        " `delete_mail` of the server through."
    ),
    bad="""\
# delete_note.yaml
summary: Deletes a note.
# toolset.yaml
clients: {staff: {allow: "*"}, guest: {allow: "*", restrict: [delete_*]}}
mcp_servers: {mail: {command: mail-mcp}}
targets: {registry: {}}
""",
    good="""\
# delete_note.yaml
summary: Deletes a note.
# toolset.yaml
clients: {staff: {allow: "*"}, guest: {allow: "*", restrict: [delete_*]}}
mcp_servers: {mail: {command: mail-mcp, allow: [send_mail, delete_mail]}}
targets: {registry: {}}
""",
    check=check,
)

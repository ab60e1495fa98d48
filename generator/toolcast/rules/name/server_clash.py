"""`name/server-clash`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.tools.look_alikes import look_alike_key

from ...findings import Finding, Severity
from ...model.mcp.mcp_servers import McpServer
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    owners: dict[str, tuple[str, str]] = {}
    for tool in toolset.tools:
        owners[look_alike_key(tool.name)] = (tool.name, "the toolset's own tool")
    for tool in toolset.tools:
        for former in tool.renamed_from:
            owners.setdefault(
                look_alike_key(former), (former, f"a former name of `{tool.name}`")
            )
    prefixes: dict[str, str] = {}
    for server in toolset.listed_servers:
        for path, own in _named(server):
            name = server.name_here(own)
            if not server.takes(own):
                continue
            mine = (name, f"a tool of `{server.name}`")
            other = owners.setdefault(look_alike_key(name), mine)
            taken, owner = other
            # Names of one server may look alike.
            if other is not mine and (taken == name or owner != mine[1]):
                is_taken = "is" if taken == name else f"looks like `{taken}`,"
                yield RULE.at(
                    toolset,
                    ("mcp_servers", server.name, *path),
                    f"`{name}` of `{server.name}` {is_taken} {owner} already, which wins",
                    "give the server a `prefix`, its tool another name in `tools`, or leave"
                    " it out",
                )
        first = prefixes.setdefault(server.prefix, server.name)
        if server.prefix and first != server.name:
            yield RULE.at(
                toolset,
                ("mcp_servers", server.name, "prefix"),
                f"`{server.name}` and `{first}` have the same prefix `{server.prefix}`",
                "give each its own: of two tools with one name, only the first is offered",
            )


def _named(server: McpServer) -> Iterator[tuple[Path, str]]:
    """The tools of a server that the toolset names, with the place: each once."""
    for own in server.tools:
        yield ("tools", own), own
    for index, own in enumerate(server.allow or ()):
        if own not in server.tools:
            yield ("allow", index), own


RULE = Rule(
    id="name/server-clash",
    severity=Severity.WARNING,
    purpose="Checks that no external server's tool takes a name that is taken.",
    why=(
        "Of two tools with one name only one is offered. With the other, a server that is"
        " not ours would answer in the name of a tool that is."
    ),
    bad="""\
# note.yaml
summary: Stores a note.
# toolset.yaml
mcp_servers: {notes: {command: notes-server, allow: [note]}}
""",
    good="""\
# note.yaml
summary: Stores a note.
# toolset.yaml
mcp_servers: {notes: {command: notes-server, allow: [note], prefix: their_}}
""",
    check=check,
)

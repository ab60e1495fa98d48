"""`name/also-live`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    specs = {tool.name: tool.source.file for tool in toolset.tools}
    for server in toolset.listed_servers:
        if server.locked is None:
            continue
        # Its reader is not needed where there is no lock.
        from ...servers.server_listing import ListingError, locked_listing

        try:
            listing = locked_listing(server.locked, server.lock or "")
        except ListingError:
            continue  # `spec/server-lock` tells it.
        for tool in listing.tools:
            own = tool["name"]
            name = server.name_here(own)
            if name not in specs or not server.takes(own):
                continue
            yield RULE.at(
                toolset,
                ("mcp_servers", server.name, "lock"),
                f"`{name}` is a tool with a spec, and taken live from `{server.name}`, too",
                f"leave it out of the server's tools (`restrict: [{own}]`), remove"
                f" {specs[name]}, or say `proxy: {server.name}` instead of `lock`",
            )


RULE = Rule(
    id="name/also-live",
    severity=Severity.ERROR,
    purpose="Checks that no tool has a spec and is taken live from a locked server.",
    why=(
        "Its spec was reviewed, and so was the lock: of two texts nobody could say which one"
        " a model reads, and a later change of either would not be what is offered."
    ),
    bad="""\
# note.yaml
summary: Stores a note.
# toolset.yaml
mcp_servers: {notes: {command: notes-server, lock: notes.json}}
# specs/example/notes.json
{"toolcastLock": 1, "tools": [{"name": "note", "inputSchema": {"type": "object"}}]}
""",
    good="""\
# note.yaml
summary: Stores a note.
# toolset.yaml
mcp_servers: {notes: {command: notes-server, lock: notes.json, prefix: their_}}
# specs/example/notes.json
{"toolcastLock": 1, "tools": [{"name": "note", "inputSchema": {"type": "object"}}]}
""",
    check=check,
)

"""`name/client-prefix`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_limits import Limited
from ...facts.costs.client_kinds import callers, kind_of, limits_of
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "mcp" not in toolset.targets:
        return
    clients = [
        (client, limit)
        for client in callers(toolset)
        for limit in limits_of(kind_of(toolset, client), Limited.NAME)
        if limit.prefix
    ]
    for tool in toolset.tools_in("mcp"):
        for client, limit in clients:
            name = f"{limit.prefix.format(toolset.name)}{tool.name}"
            if len(name) > limit.most and (
                client is None or toolset.is_offered(tool, client)
            ):
                yield RULE.at(
                    tool,
                    ("name",),
                    f"`{name}`, as {limit.client} calls it, has {len(name)} characters; it"
                    f" takes {limit.most}",
                    "shorten the name of the tool, or that of the toolset",
                )
                break


RULE = Rule(
    id="name/client-prefix",
    severity=Severity.WARNING,
    purpose="Checks that names fit their clients, with the prefix of the server.",
    why=(
        "Programs put the server's name before the tool's, and leave out a tool whose whole"
        " name is too long. Which limit counts says `kind` of a client; a client of no known"
        " kind has Claude Code's."
    ),
    bad="""\
# specs/example/store_a_note_that_stays_until_somebody_takes_it_away_again.yaml
summary: Stores a note.
# toolset.yaml
client_kind: opencode
""",
    good="""\
# specs/example/store_note.yaml
summary: Stores a note.
# toolset.yaml
client_kind: opencode
""",
    check=check,
)

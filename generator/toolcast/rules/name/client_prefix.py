"""`name/client-prefix`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import Limited, limits_here
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "mcp" not in toolset.targets:
        return
    for tool in toolset.tools_in("mcp"):
        for limit in limits_here(toolset, tool, Limited.NAME):
            name = f"{limit.prefix.format(toolset.name)}{tool.name}"
            if len(name) > limit.most:
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

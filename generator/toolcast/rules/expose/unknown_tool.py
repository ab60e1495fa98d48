"""`expose/unknown-tool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = {tool.name: None for tool in toolset.tools}
    suggestions = Suggestions(names)
    former = {name: tool.name for tool in toolset.tools for name in tool.renamed_from}
    for client in toolset.clients:
        for key, listed in (
            ("allow", client.allow or ()),
            ("restrict", client.restrict),
        ):
            for index, name in enumerate(listed):
                is_external = any(s.is_named(name) for s in toolset.listed_servers)
                if name in names or is_external:
                    continue
                now = f"it is called `{former[name]}` now" if name in former else ""
                yield RULE.at(
                    toolset,
                    ("clients", client.name, key, index),
                    f"there is no tool `{name}`",
                    now or suggestions.near(name),
                )


RULE = Rule(
    id="expose/unknown-tool",
    severity=Severity.ERROR,
    purpose="Checks that clients' lists name tools that exist.",
    why=(
        "A restriction that names no tool restricts nothing: after a rename the tool was"
        " open to those who had been kept from it."
    ),
    bad="""\
# store_note.yaml
summary: Stores a note.
# toolset.yaml
clients: {external: {allow: "*", restrict: [store_notes]}}
targets: {registry: {}}
""",
    good="""\
# read_note.yaml
summary: Reads a note.
# store_note.yaml
clients: []
summary: Stores a note.
# toolset.yaml
clients: {external: {allow: "*", restrict: [store_note]}}
targets: {registry: {}}
""",
    check=check,
)

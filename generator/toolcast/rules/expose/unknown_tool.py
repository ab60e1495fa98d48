"""`expose/unknown-tool`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.clients import NameEntry
from ...model.model import Toolset, Workspace
from ...wording import Suggestions, known_instead
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = {tool.name: None for tool in toolset.tools}
    suggestions = Suggestions(names)
    former = {name: tool.name for tool in toolset.tools for name in tool.renamed_from}
    for client in toolset.clients:
        for key, entries in (
            ("allow", client.allow_entries),
            ("restrict", client.restrict_entries),
        ):
            for index, entry in enumerate(entries):
                path = ("clients", client.name, key, index)
                if entry.is_pattern:
                    if not entry.names:
                        yield RULE.at(toolset, path, *_unmatched(toolset, entry))
                    continue
                name = entry.text
                is_external = any(s.is_named(name) for s in toolset.listed_servers)
                if name in names or is_external:
                    continue
                now = f"it is called `{former[name]}` now" if name in former else ""
                message = f"there is no tool `{name}`"
                yield RULE.at(toolset, path, message, now or suggestions.near(name))


def _unmatched(toolset: Toolset, entry: NameEntry) -> tuple[str, str]:
    """What is wrong with a pattern that no tool matches, and what to do."""
    if not entry.text.strip("*"):
        return (
            "`*` in a list stands for no tool",
            'for every tool write `allow: "*"`, without a list',
        )
    if entry.section is None:
        return f"no tool's name matches `{entry.text}`", ""
    sections = [section.name for section in toolset.sections]
    if entry.section in sections:
        return f"no tool is in the section `{entry.section}`", ""
    message = f"there is no section `{entry.section}`"
    return message, known_instead(entry.section, sections)


RULE = Rule(
    id="expose/unknown-tool",
    severity=Severity.ERROR,
    purpose="Checks that clients' lists name or match tools that exist.",
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

"""`spec/unknown-permission`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if tool.permission is not None and tool.permission not in toolset.permissions:
            yield RULE.at(
                tool,
                ("permission",),
                f"the toolset has no permission `{tool.permission}`",
                _help(tool.permission, toolset),
            )
    for client in toolset.clients:
        for index, name in enumerate(client.permissions):
            if name not in toolset.permissions:
                yield RULE.at(
                    toolset,
                    ("clients", client.name, "permissions", index),
                    f"`{client.name}` has the permission `{name}`, and there is none",
                    _help(name, toolset),
                )


def _help(name: str, toolset: Toolset) -> str:
    return (
        did_you_mean(name, list(toolset.permissions))
        or "add it to `permissions` with one line of meaning"
    )


RULE = Rule(
    id="spec/unknown-permission",
    severity=Severity.ERROR,
    purpose="Checks that the permissions of tools and clients are the toolset's.",
    why="A misspelled permission is one that nobody is ever asked for, or ever has.",
    bad="""\
permission: note.write
# toolset.yaml
permissions: {notes.write: May change notes.}
""",
    good="""\
permission: notes.write
# toolset.yaml
permissions: {notes.write: May change notes.}
""",
    check=check,
)

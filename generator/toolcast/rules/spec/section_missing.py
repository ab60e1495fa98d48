"""`spec/section-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not toolset.sections or "prompts" not in toolset.targets:
        return
    for tool in toolset.tools_in("prompts"):
        if tool.section is None:
            yield RULE.at(
                tool,
                ("name",),
                f"`{tool.name}` has no section, while the toolset has some",
                "add `section:`; without one it stands behind all others",
            )


RULE = Rule(
    id="spec/section-missing",
    severity=Severity.WARNING,
    purpose="Checks that every tool has a section when the toolset has sections.",
    why="Tools without a section gather in a block of their own at the end of the prompt.",
    bad="""\
summary: Stores a note.
when_to_use: For a fact.
# toolset.yaml
sections:
  memory: {heading: Memory}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    good="""\
section: memory
when_to_use: For a fact.
# toolset.yaml
sections:
  memory: {heading: Memory}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)

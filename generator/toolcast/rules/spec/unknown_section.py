"""`spec/unknown-section`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    names = [section.name for section in toolset.sections]
    for tool in toolset.tools:
        if tool.section is not None and tool.section not in names:
            yield RULE.at(
                tool,
                ("section",),
                f"the toolset has no section `{tool.section}`",
                did_you_mean(tool.section, names) or "add it to `sections`",
            )


RULE = Rule(
    id="spec/unknown-section",
    severity=Severity.ERROR,
    purpose="Checks that every tool's section is one of the toolset's.",
    why="The tool would fall out of its section of the prompt, behind all others.",
    bad="""\
section: memroy
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

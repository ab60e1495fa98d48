"""`expose/tool-budget`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.token_costs import list_tokens
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    most = toolset.token_budget.tool
    if most is None:
        return
    for tool in toolset.tools:
        tokens = list_tokens(tool)
        if tokens > most:
            yield RULE.at(
                tool,
                ("name",),
                f"the definition of `{tool.name}` has about {tokens:,} tokens, over the"
                f" budget of {most:,}",
                "shorten its texts, split it, or raise `token_budget.tool` of toolset.yaml",
            )


RULE = Rule(
    id="expose/tool-budget",
    severity=Severity.ERROR,
    purpose="Checks that the definition of each tool keeps to the `token_budget`.",
    why="One tool that says too much costs more than ten that do not.",
    bad="""\
summary: Stores a note.
# toolset.yaml
token_budget: {tool: 10}
""",
    good="""\
summary: Stores a note.
# toolset.yaml
token_budget: {tool: 100}
""",
    check=check,
)

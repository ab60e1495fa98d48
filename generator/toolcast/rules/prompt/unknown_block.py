"""`prompt/unknown-block`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.prompt_docs import prompt_blocks
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    budgets = toolset.token_budget.blocks
    if not budgets:
        return
    known = [name for name, _ in prompt_blocks(toolset, None, workspace.package)]
    suggestions = Suggestions(known)
    for name in budgets:
        if name not in known:
            yield RULE.at(
                toolset,
                ("token_budget", "blocks", name),
                f"the prompt docs have no block `{name}`",
                (
                    suggestions.near(name) or f"there are {quoted_list(known[:10])}"
                    if known
                    else "the toolset has no target `prompts`"
                ),
                at_key=True,
            )


RULE = Rule(
    id="prompt/unknown-block",
    severity=Severity.ERROR,
    purpose="Checks that every block with a `token_budget` is one of the prompt docs.",
    why="The budget of a block that is misspelled or gone holds nothing.",
    bad="""\
# toolset.yaml
token_budget: {blocks: {pre_amble: 100}}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    good="""\
# toolset.yaml
token_budget: {blocks: {preamble: 100}}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)

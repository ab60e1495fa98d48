"""`prompt/block-budget`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.prompt_docs import prompt_blocks
from ...facts.token_costs import estimated_tokens
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    budgets = toolset.token_budget.blocks
    if not budgets:
        return
    for name, text in prompt_blocks(toolset, None, workspace.package):
        tokens = estimated_tokens(text)
        if tokens > budgets.get(name, tokens):
            yield RULE.at(
                toolset,
                ("token_budget", "blocks", name),
                f"the block `{name}` has about {tokens:,} tokens, over its budget of"
                f" {budgets[name]:,}",
                "shorten its texts, or raise the budget; `toolcast tokens --by block` shows"
                " all of them",
            )


RULE = Rule(
    id="prompt/block-budget",
    severity=Severity.ERROR,
    purpose="Checks that the blocks of the prompt docs keep to their `token_budget`.",
    why="A prompt grows by a line at a time, and each is paid for in every request.",
    bad="""\
summary: Stores a note.
when_to_use: {text: null, reason: The summary says it.}
# toolset.yaml
token_budget: {blocks: {preamble: 5}}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    good="""\
summary: Stores a note.
when_to_use: {text: null, reason: The summary says it.}
# toolset.yaml
token_budget: {blocks: {preamble: 100}}
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)

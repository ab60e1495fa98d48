"""`expose/client-budget`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import callers
from ...facts.token_costs import client_costs
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    budget = toolset.token_budget
    if not budget.upfront:
        return
    for client in callers(toolset):
        name = client.name if client is not None else None
        most = budget.of_client(name)
        if most is None:
            continue
        tokens = client_costs(toolset, client, workspace.package).whole.in_each_request
        if tokens > most:
            path = ("token_budget", "upfront")
            yield RULE.at(
                toolset,
                (*path, name) if name in budget.upfront and name else path,
                f"{f'`{name}`' if name else 'the caller'} has about {tokens:,} tokens in"
                f" each request, over the budget of {most:,}",
                "offer it fewer tools, shorten their texts, or raise the budget; `toolcast"
                " tokens --by tool` shows the largest",
            )


RULE = Rule(
    id="expose/client-budget",
    severity=Severity.ERROR,
    purpose="Checks that what clients load upfront keeps to the `token_budget`.",
    why=(
        "Definitions are paid for in every request, and leave less room for the work; a"
        " server whose tools take a tenth of the context is switched off by its users."
    ),
    bad="""\
summary: Stores a note.
# toolset.yaml
token_budget: {upfront: 10}
""",
    good="""\
summary: Stores a note.
# toolset.yaml
token_budget: {upfront: 100}
""",
    check=check,
)

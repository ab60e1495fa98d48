"""Changes of what `check` and `tokens` hold the cost of tools against."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.model import Toolset, Workspace
from .change import Change, Family, Grade, Grades, files_of
from .field_rows import changes_of, entries, fields_of_rows, rules_of_rows, value
from .rule_pairs import alone, pair

__all__ = ["FAMILY"]

KIND = alone(
    "cost/client-kind",
    "A client is said to be another program: other limits are checked, and other tools are"
    " counted upfront.",
    Grades(attachment=Grade.RISKY),
)
BUDGET = alone(
    "cost/budget",
    "Tools may cost a model more, or less; what they cost is the same.",
    Grades(),
)
BUDGET_ADDED, BUDGET_REMOVED = pair(
    ("cost/budget-added", "A budget of tokens is held from now on.", Grades()),
    ("cost/budget-removed", "A budget of tokens is not held any more.", Grades()),
)
_TOOLSET = (
    value("client_kind", "the kind of clients that say none", KIND),
    value("clients.*.kind", "the kind of {}", KIND),
    value(
        "token_budget.upfront",
        "the budget of what clients load upfront",
        BUDGET,
        came=BUDGET_ADDED,
        gone=BUDGET_REMOVED,
    ),
    value(
        "token_budget.tool",
        "the budget of a tool",
        BUDGET,
        came=BUDGET_ADDED,
        gone=BUDGET_REMOVED,
    ),
    entries(
        "token_budget.blocks",
        "the budgets of prompt blocks",
        BUDGET_ADDED,
        BUDGET_REMOVED,
        BUDGET,
    ),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of kinds and budgets."""
    return changes_of(_TOOLSET, files_of(before, after))


FAMILY = Family(
    rules=rules_of_rows(_TOOLSET),
    toolset_fields=fields_of_rows(_TOOLSET),
    compare_toolsets=compare_toolsets,
)
"""Kinds of clients, and budgets of tokens."""

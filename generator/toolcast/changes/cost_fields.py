"""Changes of what `check` and `tokens` hold the cost of tools against."""

from __future__ import annotations

from .change import Grade, Grades
from .family import Family, Rules
from .field_rows import entries, value

__all__ = ["FAMILY"]

RULES = Rules()
KIND = RULES.alone(
    "cost/client-kind",
    "A client is said to be another program: other limits are checked, and other tools are"
    " counted upfront.",
    Grades(attachment=Grade.RISKY),
)
BUDGET = RULES.alone(
    "cost/budget",
    "Tools may cost a model more, or less; what they cost is the same.",
    Grades(),
)
BUDGET_ADDED, BUDGET_REMOVED = RULES.pair(
    "cost/budget-added",
    "A budget of tokens is held from now on.",
    Grades(),
    "cost/budget-removed",
    "A budget of tokens is not held any more.",
    Grades(),
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


FAMILY = Family(rules=RULES, toolset_rows=_TOOLSET)
"""Kinds of clients, and budgets of tokens."""

"""Plans for Letta Code's settings as people read them."""

from __future__ import annotations

from collections.abc import Iterator

from .plan import CodePlan

__all__ = ["code_plan_text"]


def code_plan_text(plan: CodePlan) -> str:
    """The plan, a line a change, marked as Terraform marks them; ends with a newline."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: CodePlan) -> Iterator[str]:
    yield f"{plan.toolset} in {plan.path}"
    for agent in plan.agents:
        where = agent.backend or "Letta's cloud"
        yield f"{agent.name} is {agent.id} on {where}"
    for change in plan.changes:
        yield ""
        yield f"  MCP servers of {change.agent}"
        yield f"{change.action:>5} {change.name}  ({change.detail})"
    for warning in plan.warnings:
        yield f"\nwarning: {warning}"
    for objection in plan.objections:
        yield f"\nrefused: {objection.message} ({objection.code})"
        if objection.help:
            yield f"  help: {objection.help}"
    yield ""
    yield _summary(plan)


def _summary(plan: CodePlan) -> str:
    if plan.objections:
        number = len(plan.objections)
        return f"Refused: {number} objection{'' if number == 1 else 's'}."
    if not plan.changes:
        return "No changes: the settings are as the specs say."
    added = sum(change.action == "+" for change in plan.changes)
    return f"Plan: {added} to add, {len(plan.changes) - added} to change, 0 to remove."

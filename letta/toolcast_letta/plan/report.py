"""Plans and results as people read them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from .plan import Change, Plan

__all__ = ["plan_text"]

_LAYERS = {
    "server": "MCP server entry",
    "registry": "registry, for every agent of the organisation",
    "tool": "tools of {agent}",
    "rule": "rules of {agent}",
}


def plan_text(plan: Plan) -> str:
    """The plan, a line a change, marked as Terraform marks them; ends with a newline."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    yield f"{plan.toolset} on Letta {plan.version} at {plan.base_url}"
    for agent in plan.agents:
        yield f"{agent.name} is {agent.id}, a {agent.type}"
    for (layer, agent_name), changes in groupby(plan.changes, _group):
        yield ""
        yield f"  {_LAYERS[layer].format(agent=agent_name)}"
        for change in changes:
            yield _line(change)
    for warning in plan.warnings:
        yield f"\nwarning: {warning}"
    for objection in plan.objections:
        yield f"\nrefused: {objection.message} ({objection.code})"
        if objection.help:
            yield f"  help: {objection.help}"
    yield ""
    yield _summary(plan)


def _group(change: Change) -> tuple[str, str]:
    return change.layer, change.agent


def _line(change: Change) -> str:
    text = f"{change.action:>5} {change.name}"
    if change.detail:
        text += f"  ({change.detail})"
    if change.undo and "-" not in change.action:
        return f"{text}  # {change.undo}"
    return text + (f"  # cannot be undone: {change.undo}" if change.undo else "")


def _summary(plan: Plan) -> str:
    if plan.objections:
        number = len(plan.objections)
        return f"Refused: {number} objection{'' if number == 1 else 's'}."
    if not plan.changes:
        return "No changes: Letta is as the specs say."
    counted = {"+": 0, "~": 0, "-": 0}
    for change in plan.changes:
        for sign in ("-", "+") if change.action == "-/+" else (change.action,):
            counted[sign] += 1
    return (
        f"Plan: {counted['+']} to add, {counted['~']} to change,"
        f" {counted['-']} to remove."
    )

"""Format plans and the results of verification as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from .backend import AgentCount
from .plan import AgentPlan, Change, Plan
from .verification import Verification

_LAYERS = {
    "server": "MCP server entry",
    "registry": "registry, for every agent of the organization",
    "tool": "tools of {agent}",
    "rule": "rules of {agent}",
}


def format_plan(plan: Plan) -> str:
    """Return a plan as text: one line for each change, marked as in Terraform.

    The text ends with a newline.
    """
    return "\n".join(_format_plan_lines(plan)) + "\n"


def _format_plan_lines(plan: Plan) -> Iterator[str]:
    if plan.version:
        yield f"{plan.toolset} on Letta {plan.version} at {plan.location}"
    else:
        yield f"{plan.toolset} in {plan.location}"
    for agent in plan.agents:
        yield f"{agent.name} is {agent.id}{_format_agent_kind(agent)}"
    # `groupby` needs adjacent items: a plan lists the changes of a layer and agent
    # together.
    for (layer, agent_name), changes in groupby(plan.changes, _get_group_key):
        yield ""
        if layer == "server" and agent_name:
            yield f"  MCP servers of {agent_name}"
        else:
            yield f"  {_LAYERS[layer].format(agent=agent_name)}"
        yield from _format_changes(list(changes))
    for agent in plan.agents:
        remaining = sorted({*agent.tools_after} & {*agent.tools_before})
        if remaining:
            yield ""
            yield from _wrap_names(f"  {agent.name} keeps ", remaining)
    for line in plan.missing:
        yield f"\nmissing: {line}"
    for line in plan.blocks:
        yield f"\nmemory: {line}"
    for warning in plan.warnings:
        yield f"\nwarning: {warning}"
    for blocker in plan.blockers:
        yield f"\nrefused: {blocker.message} ({blocker.code})"
        if blocker.help:
            yield f"  help: {blocker.help}"
    yield ""
    yield _format_summary(plan)


def _format_agent_kind(agent: AgentPlan) -> str:
    if agent.type:
        return f", a {agent.type}"
    home = agent.home or "Letta's cloud"
    return f" on {home}"


def _get_group_key(change: Change) -> tuple[str, str]:
    return change.layer, change.agent


def _format_changes(changes: Sequence[Change]) -> Iterator[str]:
    """Yield lines for changes; changes with the same action and remark share one."""
    names_by_change: dict[tuple[str, str, str], list[str]] = {}
    for change in changes:
        name, remark = change.name, _format_remark(change)
        # A rule without other fields is named `TOOL TYPE`: rules of the same type share
        # a line.
        if change.layer == "rule" and " (" not in name:
            name, _, kind = name.rpartition(" ")
            remark = f"  {kind}{remark}"
        names_by_change.setdefault((change.action, change.layer, remark), []).append(
            name
        )
    for (action, _, remark), names in names_by_change.items():
        if len(names) == 1:
            yield f"{action:>5} {names[0]}{remark}"
        else:
            yield from _wrap_names(f"{action:>5} ", names, remark)


def _wrap_names(start: str, names: Sequence[str], remark: str = "") -> Iterator[str]:
    """Yield lines of at most 88 characters that list names after a prefix.

    Continuation lines are indented by the prefix's length; the remark follows the last
    name.
    """
    line = start
    for number, name in enumerate(names):
        word = name + ("," if number + 1 < len(names) else remark)
        if line.strip() and len(line) > len(start) and len(line) + len(word) > 88:
            yield line.rstrip()
            line = " " * len(start)
        line += word + " "
    yield line.rstrip()


def _format_remark(change: Change) -> str:
    text = f"  ({change.detail})" if change.detail else ""
    if change.undo and "-" not in change.action:
        return f"{text}  # {change.undo}"
    return text + (f"  # cannot be undone: {change.undo}" if change.undo else "")


def _format_summary(plan: Plan) -> str:
    if plan.blockers:
        number = len(plan.blockers)
        return f"Refused: {number} blocker{'' if number == 1 else 's'}."
    if not plan.changes and (plan.missing or plan.blocks):
        return "Nothing to apply, but Letta does not match the specs."
    if not plan.changes:
        return "No changes: Letta matches the specs."
    counts = {"+": 0, "~": 0, "-": 0}
    for change in plan.changes:
        for sign in ("-", "+") if change.action == "-/+" else (change.action,):
            counts[sign] += 1
    return (
        f"Plan: {counts['+']} to add, {counts['~']} to change,"
        f" {counts['-']} to remove."
    )


def format_verification(verification: Verification) -> str:
    """Return the results of verification as text that ends with a newline."""
    lines = [f"differs: {line}" for line in verification.differences]
    lines += [f"warning: {line}" for line in verification.plan.warnings]
    outcomes = {True: "ok", False: "FAILED", None: "skipped"}
    for check in verification.checks:
        detail = f" ({check.detail})" if check.detail else ""
        outcome = outcomes[check.passed]
        tool = f" {check.tool}" if check.tool else ""
        lines.append(f"{check.kind}{tool} by {check.agent}: {outcome}{detail}")
    for count in verification.counts:
        own = [name for name in verification.canonical if name in count.names]
        others = [name for name in count.names if name not in verification.canonical]
        lines.append(
            f"{count.agent} has {len(own)} of {count.canonical} canonical tools:"
            f" {', '.join(own) or 'none'}"
        )
        lines.append(
            f"{count.agent} has {len(others)} other tools: {', '.join(others) or 'none'}"
        )
        lines.append(
            f"attached_count: {count.attached}{_format_baseline_difference(count)}  {count.agent}"
        )
    lines += [f"skipped: {line}" for line in verification.skipped_checks]
    lines.append(f"all_match: {'true' if verification.all_match else 'false'}")
    return "\n".join(lines) + "\n"


def _format_baseline_difference(count: AgentCount) -> str:
    """Return the difference to the baseline, such as ` (baseline 9 + 2 - 1: lost a)`.

    Lost tools are listed by name, because new tools can hide them in the total. The
    text is empty without a baseline.
    """
    if count.baseline is None:
        return ""
    parts = [f" + {len(count.gained)}" if count.gained else ""]
    if count.lost:
        parts.append(f" - {len(count.lost)}: lost {', '.join(count.lost)}")
    return f" (baseline {len(count.baseline)}{''.join(parts)})"

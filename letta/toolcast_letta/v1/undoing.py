"""What a rollback does, as a value: derived from three states, carried out by nobody here.

A baseline holds what was there before an apply and what that apply made of it. What differs
between the two was the apply's doing and is undone; what differs between the second and now
was done by others since then, and stays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..plan.current_state import AgentState, CurrentState
from ..plan.desired_state import DesiredState
from ..plan.tool_rules import (
    LOOP_RULES,
    REQUIRES_APPROVAL,
    Rule,
    are_same_rules,
    collect_tool_names,
    format_rule,
)
from ..state.baseline import AgentBaseline, Baseline


@dataclass(frozen=True)
class AgentUndo:
    """One agent.

    Attributes:
        name: the toolset's name for it.
        id: Letta's id.
        tools: the names of the tools that it gets.
        rules: the rules that it gets.
        changes: what changes, a line each.
        lost: what was there and cannot be put back.
        stays: what others did since then, and a rollback leaves.
    """

    name: str
    id: str
    tools: tuple[str, ...]
    rules: tuple[Rule, ...]
    changes: tuple[str, ...]
    lost: tuple[str, ...]
    stays: tuple[str, ...]


@dataclass(frozen=True)
class Undo:
    """What a rollback does.

    Attributes:
        agents: each agent.
        register: tools to be registered again, which the MCP server still offers.
        lost: what cannot be put back, besides the agents' own.
        stays: what is left as it is, besides the agents' own.
    """

    agents: tuple[AgentUndo, ...]
    register: tuple[str, ...]
    lost: tuple[str, ...]
    stays: tuple[str, ...]


@dataclass(frozen=True)
class _ChangesSinceBaseline:
    """What applies have done to one agent since a baseline.

    Attributes:
        given: tools that they attached.
        taken: tools that they detached.
        rules_given: rules that they made.
        rules_taken: rules that they removed.
    """

    given: frozenset[str]
    taken: frozenset[str]
    rules_given: tuple[Rule, ...]
    rules_taken: tuple[Rule, ...]


def build_undo(
    desired: DesiredState,
    baseline: Baseline,
    later: Sequence[Baseline],
    current: CurrentState,
    restore: Collection[str] = (),
) -> Undo:
    """What it takes to undo the applies since a baseline.

    Args:
        desired: what the toolset wants now.
        baseline: what was there before the first of them.
        later: the baselines of the others.
        current: what is there now.
        restore: tools that others detached since then and that are to come back all the
            same, with their rules.
    """
    renamed = dict(baseline.renamed)
    holders = dict(baseline.holders)
    for one in later:
        renamed.update(one.renamed)
        holders.update(one.holders)
    states = {state.id: state for state in current.agents.values()}
    agents = tuple(
        _undo_agent(
            before, states[before.id], steps, current, renamed, desired, restore
        )
        for before in baseline.agents
        if (steps := _collect_changes([baseline, *later], before.id))
    )
    wanted = {name for agent in agents for name in agent.tools}
    return Undo(
        agents,
        tuple(sorted(name for name in wanted if name not in current.registry)),
        tuple(
            f"`{name}` was taken from other agents, too, which do not get it back:"
            f" {', '.join(others)}"
            for name, others in sorted(holders.items())
        ),
        tuple(_list_unrestored(desired, baseline, current)),
    )


def _collect_changes(
    baselines: Sequence[Baseline], agent_id: str
) -> _ChangesSinceBaseline:
    steps = [one for b in baselines if (one := b.find_agent(agent_id)) is not None]
    attached: set[str] = set()
    detached: set[str] = set()
    rules_added: list[Rule] = []
    rules_removed: list[Rule] = []
    for step in steps:
        attached |= {*step.tools_after} - {*step.tools}
        detached |= {*step.tools} - {*step.tools_after}
        rules_added += [
            r for r in step.rules_after if not _contains_rule(r, step.rules)
        ]
        rules_removed += [
            r for r in step.rules if not _contains_rule(r, step.rules_after)
        ]
    return _ChangesSinceBaseline(
        frozenset(attached),
        frozenset(detached),
        tuple(rules_added),
        tuple(rules_removed),
    )


def _undo_agent(
    before: AgentBaseline,
    state: AgentState,
    since: _ChangesSinceBaseline,
    current: CurrentState,
    renamed: Mapping[str, str],
    desired: DesiredState,
    restore: Collection[str],
) -> AgentUndo:
    name = before.name
    available = {*current.registry}
    if current.entry is not None:
        available |= {*current.offered}
    lost, stays, tools = [], [], []
    removed = set()
    for tool in before.tools:
        if tool in state.tools:
            tools.append(tool)
        elif tool not in since.taken and tool not in restore:
            stays.append(
                f"{name}: without `{tool}`, detached since then; --restore {tool}"
                " attaches it"
            )
        elif tool in available:
            tools.append(tool)
        else:
            removed.add(tool)
            new_name = renamed.get(tool)
            note = ""
            if new_name is not None and new_name in available:
                tools.append(new_name)
                note = f"; it keeps `{new_name}`"
            lost.append(
                f"{name}: `{tool}` is not in the registry{note}; deploy the MCP server"
                " that had it, then roll back again"
            )
    own_tools = {*since.given, *desired.canonical, *desired.removed_names}
    own_tools |= {*current.own_names}
    for tool in state.tools:
        if tool not in before.tools and tool not in tools and tool not in own_tools:
            tools.append(tool)
            stays.append(f"{name}: `{tool}`, attached since then")
    tools = list(dict.fromkeys(tools))
    rules = _undo_rules(before, state, since, tools, removed, restore, lost, stays)
    changes = [f"+ tool {tool}" for tool in tools if tool not in state.tools]
    changes += [f"- tool {tool}" for tool in state.tools if tool not in tools]
    changes += [
        f"+ rule {format_rule(r)}" for r in rules if not _contains_rule(r, state.rules)
    ]
    changes += [
        f"- rule {format_rule(r)}" for r in state.rules if not _contains_rule(r, rules)
    ]
    return AgentUndo(
        name,
        before.id,
        tuple(tools),
        tuple(rules),
        tuple(changes),
        tuple(lost),
        tuple(stays),
    )


def _undo_rules(
    before: AgentBaseline,
    state: AgentState,
    since: _ChangesSinceBaseline,
    tools: Collection[str],
    removed: Collection[str],
    restore: Collection[str],
    lost: list[str],
    stays: list[str],
) -> list[Rule]:
    """The rules behind a rollback; a rule of somebody's that has a newer version stays one."""
    leaving = {*state.tools} - {*tools}
    kept: list[Rule] = []
    for rule in state.rules:
        if rule["tool_name"] in leaving:
            continue
        if _contains_rule(rule, since.rules_given) and not _contains_rule(
            rule, before.rules
        ):
            # An apply made it. It stays where what was there before cannot come back.
            older = [r for r in before.rules if _get_rule_key(r) == _get_rule_key(rule)]
            is_needed = any(collect_tool_names(r) & {*removed} for r in older)
            if rule["tool_name"] in before.tools and not is_needed:
                continue
            if rule["tool_name"] not in tools:
                continue
        kept.append(rule)
    for rule in before.rules:
        name, kind = _get_rule_key(rule)
        text = f"{before.name}: the rule {format_rule(rule)}"
        if _contains_rule(rule, kept):
            continue
        if collect_tool_names(rule) & {*removed}:
            lost.append(text)
        elif any(_get_rule_key(one) == (name, kind) for one in kept):
            stays.append(f"{text} as somebody has changed it since then")
        elif _contains_rule(rule, since.rules_taken) or name in restore:
            kept.append(rule)
        elif name in tools and _is_safeguard(rule, kept):
            # Without it the agent's turn ends at once, or nobody is asked.
            kept.append(rule)
        elif name in tools:
            stays.append(f"{text} stays away: somebody has removed it since then")
    return kept


def _is_safeguard(rule: Rule, kept: Sequence[Rule]) -> bool:
    name, kind = _get_rule_key(rule)
    if kind == REQUIRES_APPROVAL:
        return True
    others = {k for n, k in map(_get_rule_key, kept) if n == name}
    return kind in LOOP_RULES and not others & LOOP_RULES


def _get_rule_key(rule: Rule) -> tuple[str, str]:
    return rule["tool_name"], rule["type"]


def _contains_rule(rule: Rule, rules: Sequence[Rule]) -> bool:
    return any(are_same_rules([rule], [one]) for one in rules)


def _list_unrestored(
    desired: DesiredState, baseline: Baseline, current: CurrentState
) -> list[str]:
    """What no request of this command brings back."""
    lines = []
    if current.entry is not None and baseline.entry is None:
        lines.append(f"the entry {desired.server_name}, created since then")
    for name in current.own_names:
        digest = baseline.registry.get(name)
        if digest is None:
            lines.append(f"`{name}`, registered since then")
        elif digest != current.registry[name].digest:
            lines.append(
                f"the text or schema of `{name}`: deploy the MCP server as it was, and apply"
            )
    for name in baseline.registry:
        if name not in current.registry:
            lines.append(f"`{name}`, deleted from the registry since then")
    return lines

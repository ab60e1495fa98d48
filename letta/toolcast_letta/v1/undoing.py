"""Compute a rollback from a baseline and the current state.

A baseline has the states before and after an apply. Differences between these two are
undone. Differences between the state after the apply and the current state come from
others and are kept.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
    """The effect of a rollback on one agent.

    Attributes:
        name: the agent's name in the toolset.
        id: the agent's id in Letta.
        tools: the names of its tools after the rollback.
        rules: its rules after the rollback.
        changes: descriptions of the changes.
        lost: descriptions of tools and rules that cannot be restored.
        stays: descriptions of later changes by others, which are not undone.
        blocks: the specs' part of its memory blocks after the rollback, by label; only
            parts that change.
    """

    name: str
    id: str
    tools: tuple[str, ...]
    rules: tuple[Rule, ...]
    changes: tuple[str, ...]
    lost: tuple[str, ...]
    stays: tuple[str, ...]
    blocks: Mapping[str, str] = field(default_factory=dict)


class RestoreError(Exception):
    """Tool in `--restore` that no agent of the baseline had."""


@dataclass(frozen=True)
class Undo:
    """The effects of a rollback.

    Attributes:
        agents: the effects on each agent.
        register: the tools to register again, which the MCP server still offers.
        lost: descriptions of tools that cannot be restored for agents outside the
            toolset.
        stays: descriptions of registry changes that are not undone.
    """

    agents: tuple[AgentUndo, ...]
    register: tuple[str, ...]
    lost: tuple[str, ...]
    stays: tuple[str, ...]


@dataclass(frozen=True)
class _ChangesSinceBaseline:
    """The changes that were applied to one agent since a baseline.

    Attributes:
        attached: the names of the tools that were attached.
        detached: the names of the tools that were detached.
        rules_added: the rules that were added.
        rules_removed: the rules that were removed.
    """

    attached: frozenset[str]
    detached: frozenset[str]
    rules_added: tuple[Rule, ...]
    rules_removed: tuple[Rule, ...]


def build_undo(
    desired: DesiredState,
    baseline: Baseline,
    later: Sequence[Baseline],
    current: CurrentState,
    restore: Collection[str] = (),
    parts: Mapping[str, Mapping[str, str]] | None = None,
) -> Undo:
    """Compute how to undo what was applied since a baseline.

    Args:
        desired: the desired state.
        baseline: the state before the first apply to undo.
        later: the baselines of the applies after it.
        current: the current state.
        restore: tools that others detached since then, or that the agent had lost before
            the baseline, and that are attached again, with their rules.
        parts: the specs' part of each memory block, by agent id and label; None for no
            blocks.

    Raises:
        RestoreError: no agent of the baseline had a tool in `restore`.
    """
    names = sorted({name for agent in baseline.agents for name in agent.tools_before})
    for name in restore:
        if name not in names:
            raise RestoreError(
                f"--restore {name}: no agent of the baseline of {baseline.saved} had"
                f" `{name}`\n  help: pass one of {', '.join(names) or 'no tools'}, or an"
                " older BASELINE that has the tool"
            )
    renamed = dict(baseline.renamed)
    holders = dict(baseline.holders)
    for other in later:
        renamed.update(other.renamed)
        holders.update(other.holders)
    states = {state.id: state for state in current.agents.values()}
    agents = tuple(
        _undo_agent(
            before,
            states[before.id],
            steps,
            current,
            renamed,
            desired,
            restore,
            (parts or {}).get(before.id, {}),
        )
        for before in baseline.agents
        if (steps := _collect_changes([baseline, *later], before.id))
    )
    used = {name for agent in agents for name in agent.tools}
    return Undo(
        agents,
        tuple(sorted(used - current.registry.keys())),
        tuple(
            f"`{name}` was also removed from other agents, where it is not restored:"
            f" {', '.join(agent_names)}"
            for name, agent_names in sorted(holders.items())
        ),
        tuple(_list_unrestored(desired, baseline, current)),
    )


def _collect_changes(
    baselines: Sequence[Baseline], agent_id: str
) -> _ChangesSinceBaseline:
    """Return what the applies since a baseline changed for an agent.

    All fields are empty if no baseline includes the agent.
    """
    steps = [
        agent
        for baseline in baselines
        if (agent := baseline.find_agent(agent_id)) is not None
    ]
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
    parts: Mapping[str, str],
) -> AgentUndo:
    name = before.name
    # A tool that is not registered but that the MCP server offers can be registered
    # again.
    available = {*current.registry}
    if current.entry is not None:
        available |= {*current.offered}
    lost, stays, tools = [], [], []
    removed = set()
    for tool in before.tools_before:
        if tool in state.tools:
            tools.append(tool)
        elif tool not in since.detached and tool not in restore:
            stays.append(
                f"{name}: `{tool}` was detached since then; pass --restore {tool} to"
                " attach it again"
            )
        elif tool in available:
            tools.append(tool)
        else:
            removed.add(tool)
            # The MCP server does not offer the previous name of a renamed tool any
            # more, but it can offer the new name.
            new_name = renamed.get(tool)
            note = ""
            if new_name is not None and new_name in available:
                tools.append(new_name)
                note = f"; it keeps `{new_name}`"
            lost.append(
                f"{name}: `{tool}` is not in the registry{note}; deploy a version of the"
                " MCP server that has it, then roll back again"
            )
    # Tools of other owners that the baseline lacks were attached by other clients: the
    # rollback keeps them.
    own_tools = {*since.attached, *desired.canonical, *desired.removed_names}
    own_tools |= {*current.own_names}
    for tool in state.tools:
        if (
            tool not in before.tools_before
            and tool not in tools
            and tool not in own_tools
        ):
            tools.append(tool)
            stays.append(f"{name}: `{tool}` was attached since then")
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
    blocks = {
        label: before.blocks[label]
        for label, part in parts.items()
        if before.blocks.get(label, part) != part
    }
    changes += [f"~ block {label}: the specs' part" for label in blocks]
    stays += _list_outdated_parts(name, {**parts, **blocks}, own_tools - {*tools})
    return AgentUndo(
        name,
        before.id,
        tuple(tools),
        tuple(rules),
        tuple(changes),
        tuple(lost),
        tuple(stays),
        blocks,
    )


def _list_outdated_parts(
    agent: str, parts: Mapping[str, str], detached: set[str]
) -> Iterator[str]:
    """Yield a description of each memory block that still names detached tools.

    Only the part of the block between the toolset's markers is searched.
    """
    for label, part in parts.items():
        names = sorted(detached & {*re.findall(r"[\w-]+", part)})
        if names:
            yield (
                f"{agent}: the block `{label}` still describes {', '.join(names)}; write"
                " it with `toolcast letta blocks` from the previous specs"
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
    """Return an agent's rules after a rollback.

    A rule that another client changed since the apply keeps its newer version. Appends
    descriptions of rules that cannot be restored to `lost`, and of rules that stay as
    they are to `stays`.
    """
    leaving = {*state.tools} - {*tools}
    kept: list[Rule] = []
    for rule in state.rules:
        if rule["tool_name"] in leaving:
            continue
        if _contains_rule(rule, since.rules_added) and not _contains_rule(
            rule, before.rules_before
        ):
            # An apply added this rule. The rollback removes it, unless the rule that it
            # replaced refers to a removed tool and so cannot be restored.
            older = [
                r
                for r in before.rules_before
                if _get_rule_key(r) == _get_rule_key(rule)
            ]
            is_needed = any(collect_tool_names(r) & {*removed} for r in older)
            if rule["tool_name"] in before.tools_before and not is_needed:
                continue
            if rule["tool_name"] not in tools:
                continue
        kept.append(rule)
    for rule in before.rules_before:
        name, kind = _get_rule_key(rule)
        text = f"{before.name}: the rule {format_rule(rule)}"
        if _contains_rule(rule, kept):
            continue
        if collect_tool_names(rule) & {*removed}:
            lost.append(text)
        elif any(_get_rule_key(other) == (name, kind) for other in kept):
            stays.append(f"{text} was changed since then")
        elif _contains_rule(rule, since.rules_removed) or name in restore:
            kept.append(rule)
        elif name in tools and _is_safeguard(rule, kept):
            # Without this rule, the agent's turn would end early, or calls of the tool
            # would need no approval.
            kept.append(rule)
        elif name in tools:
            stays.append(f"{text} was removed since then")
    return kept


def _is_safeguard(rule: Rule, kept: Sequence[Rule]) -> bool:
    """Return whether a removed rule must be restored because its tool needs it.

    True for a rule that requires approval, and for a rule that continues or ends the
    turn if `kept` has no such rule of the tool.
    """
    name, kind = _get_rule_key(rule)
    if kind == REQUIRES_APPROVAL:
        return True
    other_types = {t for n, t in map(_get_rule_key, kept) if n == name}
    return kind in LOOP_RULES and not other_types & LOOP_RULES


def _get_rule_key(rule: Rule) -> tuple[str, str]:
    return rule["tool_name"], rule["type"]


def _contains_rule(rule: Rule, rules: Sequence[Rule]) -> bool:
    return any(are_same_rules([rule], [other]) for other in rules)


def _list_unrestored(
    desired: DesiredState, baseline: Baseline, current: CurrentState
) -> list[str]:
    """Return descriptions of registry changes that a rollback does not undo.

    These are a created entry, and registered, changed and deleted tools of the entry.
    """
    lines = []
    if current.entry is not None and baseline.entry is None:
        lines.append(f"the entry {desired.server_name} was created since then")
    for name in current.own_names:
        digest = baseline.registry.get(name)
        if digest is None:
            lines.append(f"`{name}` was registered since then")
        elif digest != current.registry[name].digest:
            lines.append(
                f"the description or schema of `{name}` was changed since then: deploy the"
                " previous version of the MCP server, and apply"
            )
    for name in baseline.registry:
        if name not in current.registry:
            lines.append(f"`{name}` was deleted from the registry since then")
    return lines

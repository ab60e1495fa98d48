"""Build a plan from the desired and the current state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..digests import compute_digest
from .agent_servers import (
    AGENT_HEADER,
    build_desired_entry,
    compare_entry,
    set_entry,
)
from .blockers import list_blockers
from .core_tools import list_missing_tools
from .current_state import AgentState, CurrentState, ServerEntry
from .desired_state import DesiredAgent, DesiredState
from .losses import find_losses
from .plan import AgentPlan, Change, Overrides, Plan
from .plan_warnings import list_warnings
from .tool_rules import are_same_rules, build_rule_needs, format_rule, merge_rules

_DELETION_DETAIL = "deleted for every agent; its id cannot be restored"


def build_plan(
    location: str,
    desired: DesiredState,
    current: CurrentState,
    overrides: Overrides | None = None,
) -> Plan:
    """Build the plan that brings Letta to the desired state.

    The plan leaves everything unchanged that does not belong to the toolset: its tools
    are those of its own MCP server entry, and its rules those of its own tools.

    Args:
        location: the URL of the Letta server, or the path of the settings file.
        desired: the desired state.
        current: the current state.
        overrides: operations that the user explicitly allows; None for none.
    """
    overrides = overrides or Overrides()
    if current.backend == "code":
        agents, changes = _plan_settings_file(desired, current)
    else:
        agents, changes = _plan_server(desired, current, overrides)
    return Plan(
        current.backend,
        desired.toolset,
        location,
        current.version,
        {"name": desired.server_name, "url": desired.server_url},
        compute_desired_digest(desired),
        fingerprint_entry(current.entry),
        {name: tool.digest for name, tool in sorted(current.offered.items())},
        fingerprint_registry(desired, current),
        agents,
        tuple(changes),
        tuple(_list_missing(desired, current, agents)),
        tuple(list_blockers(desired, current, agents, overrides)),
        tuple(list_warnings(desired, current, agents, changes)),
        overrides,
    )


def _list_missing(
    desired: DesiredState, current: CurrentState, agents: tuple[AgentPlan, ...]
) -> Iterator[str]:
    if current.backend == "v1":
        for agent, plan in zip(desired.agents, agents, strict=True):
            yield from list_missing_tools(agent, plan, current)


def _plan_settings_file(
    desired: DesiredState, current: CurrentState
) -> tuple[tuple[AgentPlan, ...], list[Change]]:
    """Return the plans and changes of the agents in a settings file.

    The entry of the toolset's MCP server is set for each agent.
    """
    plans = []
    changes = []
    for agent in desired.agents:
        state = current.agents[agent.name]
        # Several agents have this id: a blocker reports it, and no entry can be
        # planned.
        if state.is_ambiguous:
            continue
        entry = build_desired_entry(state.servers, desired, agent)
        change = compare_entry(state.servers, entry, agent.name)
        if change is not None:
            changes.append(change)
        plans.append(
            AgentPlan(
                agent.name,
                agent.id,
                home=state.home,
                servers_before=compute_digest(list(state.servers)),
                servers_after=compute_digest(set_entry(state.servers, entry)),
            )
        )
    return tuple(plans), changes


def _plan_server(
    desired: DesiredState, current: CurrentState, overrides: Overrides
) -> tuple[tuple[AgentPlan, ...], list[Change]]:
    """Return the plans of a server's agents, and all changes in order.

    The changes of the entry come first, then those of the registry and of each agent.
    """
    plans = tuple(
        _plan_agent(desired, agent, current.agents[agent.name], current, overrides)
        for agent in desired.agents
    )
    changes = [
        *_compare_entry(desired, current.entry),
        *_compare_registry(desired, current),
    ]
    for plan, agent in zip(plans, desired.agents, strict=True):
        changes += _compare_agent(plan, agent, desired, current)
    return plans, changes


def compute_desired_digest(desired: DesiredState) -> str:
    """Return the digest of the desired state without the token.

    A saved plan is refused if this digest changes.
    """
    return compute_digest(
        {
            "server": [desired.server_name, desired.server_url],
            "tools": {
                tool.name: [
                    tool.digest,
                    tool.attached,
                    tool.ends_turn,
                    tool.requires_approval,
                    list(tool.former_names),
                ]
                for tool in desired.tools.values()
            },
            "agents": [
                [
                    agent.name,
                    agent.id,
                    agent.type,
                    agent.expected,
                    sorted(agent.forbids),
                ]
                for agent in desired.agents
            ],
        }
    )


def fingerprint_entry(entry: ServerEntry | None) -> str | None:
    """Return text that identifies an entry's state; None without an entry.

    It records whether the token is the desired one, but never the token.
    """
    if entry is None:
        return None
    kind = "http" if entry.is_http else "other"
    header = f" with {AGENT_HEADER}" if entry.has_agent_header else ""
    return f"{kind} {entry.url} {'token' if entry.has_token else 'no token'}{header}"


def fingerprint_registry(
    desired: DesiredState, current: CurrentState
) -> dict[str, tuple[str | None, str | None]]:
    """Return the fingerprints of tools in Letta's registry before and after the plan.

    The keys are names of tools: the desired ones, those that the toolset's MCP server
    has in the registry, and former names. A fingerprint is None if the tool is not
    registered. The result is empty for Letta Code, which has no registry.
    """
    if current.backend == "code":
        return {}
    names = {*desired.tools, *current.own_names, *desired.removed_names}
    fingerprints: dict[str, tuple[str | None, str | None]] = {}
    for name in sorted(names):
        tool = current.registry.get(name)
        before = None
        if tool is not None:
            is_own = current.is_own_tool(name)
            owner = "ours" if is_own else tool.server_id or tool.type
            before = f"{owner} {tool.digest}"
            # A wrong tag changes where Letta sends calls, so it is part of the state.
            if is_own and tool.called_at != desired.server_name:
                before += f" called at {tool.called_at}"
        if name in desired.tools:
            after: str | None = f"ours {desired.tools[name].digest}"
        elif name in _list_obsolete_tools(desired, current):
            after = None
        else:
            after = before
        fingerprints[name] = (before, after)
    return fingerprints


def _list_obsolete_tools(desired: DesiredState, current: CurrentState) -> set[str]:
    """Return the entry's registered tools that neither specs nor MCP server have.

    The result is empty while the MCP server is unreachable: its tools are unknown then.
    """
    if current.unreachable:
        return set()
    return {
        name
        for name in current.own_names
        if name not in desired.tools and name not in current.offered
    }


def _compare_entry(
    desired: DesiredState, entry: ServerEntry | None
) -> Iterator[Change]:
    name = desired.server_name
    if entry is None:
        detail = f"streamable HTTP at {desired.server_url}"
        if desired.token is not None:
            detail += ", with a bearer token (not shown)"
        undo = "rollback keeps the entry"
        yield Change("+", "server", name, detail=detail, undo=undo)
        return
    if entry.url != desired.server_url:
        detail = f"url {entry.url} -> {desired.server_url}"
        yield Change("~", "server", name, detail=detail)
    if not entry.has_token:
        yield Change(
            "~",
            "server",
            name,
            detail="bearer token (not shown)",
            undo="the previous token is not saved",
        )
    if entry.has_agent_header:
        yield Change(
            "~",
            "server",
            name,
            detail=f"the fixed header {AGENT_HEADER} is removed: Letta sends the id of"
            " the calling agent",
            undo="rollback does not add it again",
        )


def _compare_registry(desired: DesiredState, current: CurrentState) -> Iterator[Change]:
    obsolete = _list_obsolete_tools(desired, current)
    # If the new name is registered, too, an interrupted run or another client left the
    # old tool: it is removed, not renamed.
    renamed = {
        desired.removed_names[old]: old
        for old in obsolete
        if old in desired.removed_names
        and desired.removed_names[old] not in current.registry
    }
    for name, tool in sorted(desired.tools.items()):
        registered = current.registry.get(name)
        # Letta does not register a tool with such a schema. If the tool is attached, a
        # blocker reports it.
        if (
            name in current.offered
            and current.offered[name].problem
            and not tool.attached
        ):
            continue
        if registered is None:
            old = renamed.get(name)
            if old is not None:
                detail = f"renamed: {old} is {_DELETION_DETAIL}"
                title = f"{old} -> {name}"
                yield Change("-/+", "registry", title, detail=detail, undo="renamed")
            else:
                undo = "rollback keeps it registered"
                yield Change("+", "registry", name, detail="registered", undo=undo)
        elif not current.is_own_tool(name):
            detail = f"taken over from {current.format_owner(registered)}"
            undo = "rollback does not return it to its owner"
            yield Change("~", "registry", name, detail=detail, undo=undo)
        elif registered.digest != tool.digest:
            undo = "needs the previous version of the MCP server"
            detail = "new description or parameters, same id"
            yield Change("~", "registry", name, detail=detail, undo=undo)
        elif registered.called_at != desired.server_name:
            problem = f"Letta calls it on the server `{registered.called_at}`"
            if not registered.called_at:
                problem = "Letta does not know its server, and every call fails"
            undo = "rollback keeps the new tag"
            yield Change(
                "~", "registry", name, detail=f"wrong tag: {problem}", undo=undo
            )
    for name in sorted(obsolete - set(renamed.values())):
        holders = current.holders.get(name, ())
        detail = "deleted for every agent"
        if name in desired.removed_names:
            detail = f"renamed to {desired.removed_names[name]}; {detail}"
        if holders:
            detail += f", also {', '.join(holders)}"
        undo = "needs the previous version of the MCP server"
        yield Change("-", "registry", name, detail=detail, undo=undo)


def _plan_agent(
    desired: DesiredState,
    agent: DesiredAgent,
    state: AgentState,
    current: CurrentState,
    overrides: Overrides,
) -> AgentPlan:
    # A previous name can belong to another owner's tool by now: that tool is not
    # touched.
    former = {
        old: new
        for old, new in desired.removed_names.items()
        if old not in current.registry or current.is_own_tool(old)
    }
    renamed = {old: new for old, new in former.items() if desired.tools[new].attached}
    removed = {
        name for name in state.tools if _should_detach(name, desired, agent, current)
    }
    # The rules of a renamed tool are kept, with its new name.
    rules_removed = (removed | set(former)) - set(renamed)
    remaining = [name for name in state.tools if name not in removed]
    wanted = (*agent.expected, *desired.canonical)
    after = tuple(dict.fromkeys([*remaining, *wanted]))
    needs = replace(
        build_rule_needs(desired, agent, state, current, after),
        removed=rules_removed,
        renamed=renamed,
        drop_stale=[name for name in overrides.drop_stale if name not in after],
    )
    rules = merge_rules(state.rules, needs)
    losses = find_losses(agent, state, after, rules)
    acceptable = {*losses, *state.accepted_losses}
    accepted = acceptable.intersection(overrides.accept_loss)
    # A loss stays accepted until the tool is attached again.
    accepted |= {name for name in state.accepted_losses if name not in after}
    return AgentPlan(
        agent.name,
        state.id,
        state.type,
        lost={name: lost for name, lost in losses.items() if name not in accepted},
        accepted_losses=tuple(sorted(accepted)),
        tools_before=dict(state.tools),
        rules_before=state.rules,
        tools_after=after,
        # If nothing differs, keep the rules as Letta returned them, with fields that
        # this comparison ignores.
        rules_after=state.rules if are_same_rules(rules, state.rules) else tuple(rules),
    )


def _should_detach(
    name: str, desired: DesiredState, agent: DesiredAgent, current: CurrentState
) -> bool:
    """Return whether a tool that an agent has must be detached from it.

    True for a forbidden tool, and for the toolset's tools that are unattached, renamed
    or obsolete. Tools of other owners stay.
    """
    if name in agent.forbids:
        return True
    if name in desired.tools:
        return not desired.tools[name].attached and current.is_own_tool(name)
    is_renamed = name in desired.removed_names and current.is_own_tool(name)
    return is_renamed or name in _list_obsolete_tools(desired, current)


def _compare_agent(
    plan: AgentPlan, agent: DesiredAgent, desired: DesiredState, current: CurrentState
) -> Iterator[Change]:
    for name in plan.tools_after:
        registered = current.registry.get(name)
        if name not in plan.tools_before:
            yield Change("+", "tool", name, plan.name, "attached")
        elif registered is not None and plan.tools_before[name] != registered.id:
            yield Change("~", "tool", name, plan.name, "attached by its new id")
    for name in plan.tools_before:
        if name not in plan.tools_after:
            reason = agent.forbids.get(name, "")
            if name in desired.removed_names:
                reason = f"now {desired.removed_names[name]}"
            detail = f"detached: {reason}" if reason else "detached"
            yield Change("-", "tool", name, plan.name, detail)
    # Compare the numbers of equal rules: an agent can have the same rule more than
    # once.
    before = _count_rules(plan.rules_before)
    after = _count_rules(plan.rules_after)
    for text, count in after.items():
        for _ in range(count - before.get(text, 0)):
            yield Change("+", "rule", text, plan.name)
    for text, count in before.items():
        for _ in range(count - after.get(text, 0)):
            yield Change("-", "rule", text, plan.name)


def _count_rules(rules: tuple[Mapping[str, Any], ...]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for rule in rules:
        text = format_rule(rule)
        counts[text] = counts.get(text, 0) + 1
    return counts

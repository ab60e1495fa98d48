"""From what a toolset wants and what is there to a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..digests import compute_digest
from .agent_servers import build_desired_entry, compare_entry, set_entry
from .blockers import list_blockers, list_warnings
from .core_tools import list_missing_tools
from .current_state import AgentState, CurrentState, ServerEntry
from .desired_state import DesiredAgent, DesiredState
from .plan import AgentPlan, Change, Overrides, Plan
from .tool_rules import are_same_rules, build_rule_needs, format_rule, merge_rules

_DELETION_DETAIL = "deleted for every agent; its id is gone for good"


def build_plan(
    location: str,
    desired: DesiredState,
    current: CurrentState,
    overrides: Overrides | None = None,
) -> Plan:
    """What has to be done so that Letta is as the toolset wants it.

    Nothing that is not the toolset's is touched: its tools are those of its own entry,
    its rules those of its own tools.
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
        for one, agent in zip(desired.agents, agents, strict=True):
            yield from list_missing_tools(one, agent, current)


def _plan_settings_file(
    desired: DesiredState, current: CurrentState
) -> tuple[tuple[AgentPlan, ...], list[Change]]:
    """In a settings file: an entry of the toolset's server for each agent."""
    agents = []
    changes = []
    for one in desired.agents:
        state = current.agents[one.name]
        if state.is_ambiguous:
            continue
        entry = build_desired_entry(state.servers, desired, one)
        change = compare_entry(state.servers, entry, one.name)
        if change is not None:
            changes.append(change)
        agents.append(
            AgentPlan(
                one.name,
                one.id,
                home=state.home,
                servers_before=compute_digest(list(state.servers)),
                servers_after=compute_digest(set_entry(state.servers, entry)),
            )
        )
    return tuple(agents), changes


def _plan_server(
    desired: DesiredState, current: CurrentState, overrides: Overrides
) -> tuple[tuple[AgentPlan, ...], list[Change]]:
    """On a server: the entry, the registry, and the tools and rules of each agent."""
    agents = tuple(
        _plan_agent(desired, one, current.agents[one.name], current, overrides)
        for one in desired.agents
    )
    changes = [
        *_compare_entry(desired, current.entry),
        *_compare_registry(desired, current),
    ]
    for agent, one in zip(agents, desired.agents, strict=True):
        changes += _compare_agent(agent, one, desired, current)
    return agents, changes


def compute_desired_digest(desired: DesiredState) -> str:
    """Names everything that a toolset wants, but for the token."""
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
    """The fingerprint of an entry, in which a token is only right or wrong."""
    if entry is None:
        return None
    kind = "http" if entry.is_http else "other"
    return f"{kind} {entry.url} {'token' if entry.has_token else 'no token'}"


def fingerprint_registry(
    desired: DesiredState, current: CurrentState
) -> dict[str, tuple[str | None, str | None]]:
    """Fingerprints, now and behind the plan, of the tools that it is about."""
    if current.backend == "code":
        return {}
    names = {*desired.tools, *current.own_names, *desired.removed_names}
    prints: dict[str, tuple[str | None, str | None]] = {}
    for name in sorted(names):
        there = current.registry.get(name)
        now = None
        if there is not None:
            owner = (
                "ours" if current.is_own_tool(name) else there.server_id or there.type
            )
            now = f"{owner} {there.digest}"
            if owner == "ours" and there.called_at != desired.server_name:
                now += f" called at {there.called_at}"
        if name in desired.tools:
            after: str | None = f"ours {desired.tools[name].digest}"
        elif name in _list_obsolete_tools(desired, current):
            after = None
        else:
            after = now
        prints[name] = (now, after)
    return prints


def _list_obsolete_tools(desired: DesiredState, current: CurrentState) -> set[str]:
    """Registered tools of ours that the specs have no more, and the server neither."""
    if current.unreachable:
        return set()
    own = set(current.own_names)
    return {
        name
        for name in own
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
        undo = "rolling back leaves the entry"
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
            undo="the token before is not kept",
        )


def _compare_registry(desired: DesiredState, current: CurrentState) -> Iterator[Change]:
    leaving = _list_obsolete_tools(desired, current)
    # Where both names are there, somebody or an interrupted run has left the old one.
    renamed = {
        desired.removed_names[old]: old
        for old in leaving
        if old in desired.removed_names
        and desired.removed_names[old] not in current.registry
    }
    for name, tool in sorted(desired.tools.items()):
        there = current.registry.get(name)
        if (
            name in current.offered
            and current.offered[name].problem
            and not tool.attached
        ):
            continue
        if there is None:
            old = renamed.get(name)
            if old is not None:
                detail = f"renamed: {old} is {_DELETION_DETAIL}"
                title = f"{old} -> {name}"
                yield Change("-/+", "registry", title, detail=detail, undo="renamed")
            else:
                undo = "rolling back leaves it registered"
                yield Change("+", "registry", name, detail="registered", undo=undo)
        elif not current.is_own_tool(name):
            detail = f"taken over from {current.format_owner(there)}"
            undo = "its owner does not get it back"
            yield Change("~", "registry", name, detail=detail, undo=undo)
        elif there.digest != tool.digest:
            undo = "needs the MCP server as it was before"
            detail = "description or parameters, same id"
            yield Change("~", "registry", name, detail=detail, undo=undo)
        elif there.called_at != desired.server_name:
            where = f"Letta calls it at `{there.called_at}`"
            if not there.called_at:
                where = "Letta does not know its server, and each call fails"
            undo = "rolling back leaves it mended"
            yield Change("~", "registry", name, detail=f"its tag: {where}", undo=undo)
    for name in sorted(leaving - set(renamed.values())):
        others = current.holders.get(name, ())
        detail = "deleted for every agent"
        if name in desired.removed_names:
            detail = f"renamed to {desired.removed_names[name]}; {detail}"
        if others:
            detail += f", also {', '.join(others)}"
        undo = "needs the MCP server as it was before"
        yield Change("-", "registry", name, detail=detail, undo=undo)


def _plan_agent(
    desired: DesiredState,
    agent: DesiredAgent,
    state: AgentState,
    current: CurrentState,
    overrides: Overrides,
) -> AgentPlan:
    # A former name that somebody else has by now is theirs.
    former = {
        old: new
        for old, new in desired.removed_names.items()
        if old not in current.registry or current.is_own_tool(old)
    }
    renamed = {old: new for old, new in former.items() if desired.tools[new].attached}
    removed = {
        name for name in state.tools if _should_detach(name, desired, agent, current)
    }
    rules_removed = (removed | set(former)) - set(renamed)
    kept = [name for name in state.tools if name not in removed]
    added = [n for n in (*agent.expected, *desired.canonical) if n not in kept]
    after = tuple(dict.fromkeys([*kept, *added]))
    needs = replace(
        build_rule_needs(desired, agent, state, current, after),
        removed=rules_removed,
        renamed=renamed,
        drop_stale=[name for name in overrides.drop_stale if name not in after],
    )
    rules = merge_rules(state.rules, needs)
    return AgentPlan(
        agent.name,
        state.id,
        state.type,
        tools_before=dict(state.tools),
        rules_before=state.rules,
        tools_after=after,
        # What is there already stays word for word.
        rules_after=state.rules if are_same_rules(rules, state.rules) else tuple(rules),
    )


def _should_detach(
    name: str, desired: DesiredState, agent: DesiredAgent, current: CurrentState
) -> bool:
    """Whether an attached tool is to be detached."""
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
        there = current.registry.get(name)
        if name not in plan.tools_before:
            yield Change("+", "tool", name, plan.name, "attached")
        elif there is not None and plan.tools_before[name] != there.id:
            yield Change("~", "tool", name, plan.name, "attached by its new id")
    for name in plan.tools_before:
        if name not in plan.tools_after:
            why = agent.forbids.get(name, "")
            if name in desired.removed_names:
                why = f"now {desired.removed_names[name]}"
            detail = f"detached: {why}" if why else "detached"
            yield Change("-", "tool", name, plan.name, detail)
    before = _count_rules(plan.rules_before)
    after = _count_rules(plan.rules_after)
    for text, number in after.items():
        for _ in range(number - before.get(text, 0)):
            yield Change("+", "rule", text, plan.name)
    for text, number in before.items():
        for _ in range(number - after.get(text, 0)):
            yield Change("-", "rule", text, plan.name)


def _count_rules(rules: tuple[Mapping[str, Any], ...]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for rule in rules:
        text = format_rule(rule)
        counted[text] = counted.get(text, 0) + 1
    return counted

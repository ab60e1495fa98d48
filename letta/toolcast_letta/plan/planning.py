"""From what a toolset wants and what is there to a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcast_runtime.registry.surface_digest import digest_of

from ..server.desired_state import AgentWish, Attachment
from ..server.state import AgentState, ServerEntry, World
from ..server.tool_rules import RuleNeeds, kept_rules, rule_text, same_rules
from .blockers import objections, warnings
from .plan import AgentPlan, Change, Permits, Plan

__all__ = ["entry_print", "make_plan", "registry_prints", "wish_digest"]

_GONE_FOR_ALL = "deleted for every agent; its id is gone for good"


def make_plan(
    base_url: str, wish: Attachment, world: World, permits: Permits | None = None
) -> Plan:
    """What has to be done so that Letta is as the toolset wants it.

    Nothing that is not the toolset's is touched: its tools are those of its own entry,
    its rules those of its own tools.
    """
    permits = permits or Permits()
    agents = tuple(
        _agent_plan(wish, one, world.agents[one.name], world, permits)
        for one in wish.agents
    )
    changes = [
        *_server_changes(wish, world.entry),
        *_registry_changes(wish, world),
    ]
    for agent, one in zip(agents, wish.agents, strict=True):
        changes += _agent_changes(agent, one, wish, world)
    return Plan(
        wish.toolset,
        base_url,
        world.version,
        {"name": wish.server_name, "url": wish.server_url},
        wish_digest(wish),
        entry_print(world.entry),
        {name: tool.digest for name, tool in sorted(world.live.items())},
        registry_prints(wish, world),
        agents,
        tuple(changes),
        tuple(objections(wish, world, agents, permits)),
        tuple(warnings(wish, world, agents, permits)),
        permits,
    )


def wish_digest(wish: Attachment) -> str:
    """Names everything that a toolset wants, but for the token."""
    return digest_of(
        {
            "server": [wish.server_name, wish.server_url],
            "tools": {
                tool.name: [
                    *(tool.digest, tool.attached, tool.ends_turn),
                    *(tool.requires_approval, list(tool.former_names)),
                ]
                for tool in wish.tools.values()
            },
            "agents": [
                [
                    *(agent.name, agent.id, agent.type),
                    *(dict(agent.expects), sorted(agent.forbids)),
                ]
                for agent in wish.agents
            ],
        }
    )


def entry_print(entry: ServerEntry | None) -> str | None:
    """The fingerprint of an entry, in which a token is only right or wrong."""
    if entry is None:
        return None
    kind = "http" if entry.is_http else "other"
    return f"{kind} {entry.url} {'token' if entry.has_token else 'no token'}"


def registry_prints(
    wish: Attachment, world: World
) -> dict[str, tuple[str | None, str | None]]:
    """Fingerprints, now and behind the plan, of the tools that it is about."""
    names = {*wish.tools, *world.own_names, *wish.gone_names}
    prints: dict[str, tuple[str | None, str | None]] = {}
    for name in sorted(names):
        there = world.registry.get(name)
        now = None
        if there is not None:
            owner = "ours" if world.is_ours(name) else there.server_id or there.type
            now = f"{owner} {there.digest}"
        if name in wish.tools:
            after: str | None = f"ours {wish.tools[name].digest}"
        elif name in _leaving(wish, world):
            after = None
        else:
            after = now
        prints[name] = (now, after)
    return prints


def _leaving(wish: Attachment, world: World) -> set[str]:
    """Registered tools of ours that the specs have no more, and the server neither."""
    if world.unreachable:
        return set()
    own = set(world.own_names)
    return {name for name in own if name not in wish.tools and name not in world.live}


def _server_changes(wish: Attachment, entry: ServerEntry | None) -> Iterator[Change]:
    name = wish.server_name
    if entry is None:
        detail = f"streamable HTTP at {wish.server_url}"
        if wish.token is not None:
            detail += ", with a bearer token (not shown)"
        undo = "rolling back leaves the entry"
        yield Change("+", "server", name, detail=detail, undo=undo)
        return
    if entry.url != wish.server_url:
        detail = f"url {entry.url} -> {wish.server_url}"
        yield Change("~", "server", name, detail=detail)
    if not entry.has_token:
        yield Change(
            *("~", "server", name),
            detail="bearer token (not shown)",
            undo="the token before is not kept",
        )


def _registry_changes(wish: Attachment, world: World) -> Iterator[Change]:
    leaving = _leaving(wish, world)
    renamed = {wish.gone_names[old]: old for old in leaving if old in wish.gone_names}
    for name, tool in sorted(wish.tools.items()):
        there = world.registry.get(name)
        if name in world.live and world.live[name].problem and not tool.attached:
            continue
        if there is None:
            old = renamed.get(name)
            if old is not None:
                detail = f"renamed: {old} is {_GONE_FOR_ALL}"
                title = f"{old} -> {name}"
                yield Change("-/+", "registry", title, detail=detail, undo="renamed")
            else:
                undo = "rolling back leaves it registered"
                yield Change("+", "registry", name, detail="registered", undo=undo)
        elif not world.is_ours(name):
            owner = there.server_id or there.type
            detail = f"taken over from {owner}"
            undo = "its owner does not get it back"
            yield Change("~", "registry", name, detail=detail, undo=undo)
        elif there.digest != tool.digest:
            undo = "needs the MCP server as it was before"
            detail = "description or parameters, same id"
            yield Change("~", "registry", name, detail=detail, undo=undo)
    for name in sorted(leaving - set(renamed.values())):
        others = world.holders.get(name, ())
        detail = "deleted for every agent"
        if others:
            detail += f", also {', '.join(others)}"
        undo = "needs the MCP server as it was before"
        yield Change("-", "registry", name, detail=detail, undo=undo)


def _agent_plan(
    wish: Attachment,
    agent: AgentWish,
    state: AgentState,
    world: World,
    permits: Permits,
) -> AgentPlan:
    # A former name that somebody else has by now is theirs.
    former = {
        old: new
        for old, new in wish.gone_names.items()
        if old not in world.registry or world.is_ours(old)
    }
    renamed = {old: new for old, new in former.items() if wish.tools[new].attached}
    gone = {name for name in state.tools if _goes(name, wish, agent, world)}
    rules_gone = (gone | set(former)) - set(renamed)
    kept = [name for name in state.tools if name not in gone]
    added = [n for n in (*sorted(agent.expects), *wish.canonical) if n not in kept]
    after = tuple(dict.fromkeys([*kept, *added]))
    # Who attaches by PATCH brings no approval along. Of tools that others attached, they
    # have decided.
    approving = [
        name
        for name in after
        if (name in wish.tools and wish.tools[name].requires_approval)
        or (
            (name in wish.canonical or name not in state.tools)
            and name in world.registry
            and world.registry[name].needs_approval
        )
    ]
    needs = RuleNeeds(
        state.type,
        {name: wish.tools[name].ends_turn for name in wish.canonical},
        agent.expects,
        approving,
        rules_gone,
        renamed,
        [name for name in permits.drop_stale if name not in after],
    )
    rules = kept_rules(state.rules, needs)
    return AgentPlan(
        *(agent.name, state.id, state.type, dict(state.tools), state.rules),
        after,
        # What is there already stays word for word.
        state.rules if same_rules(rules, state.rules) else tuple(rules),
    )


def _goes(name: str, wish: Attachment, agent: AgentWish, world: World) -> bool:
    """Whether an attached tool is to be detached."""
    if name in agent.forbids:
        return True
    if name in wish.tools:
        return not wish.tools[name].attached and world.is_ours(name)
    is_renamed = name in wish.gone_names and world.is_ours(name)
    return is_renamed or name in _leaving(wish, world)


def _agent_changes(
    plan: AgentPlan, agent: AgentWish, wish: Attachment, world: World
) -> Iterator[Change]:
    for name in plan.after:
        there = world.registry.get(name)
        if name not in plan.before:
            yield Change("+", "tool", name, plan.name, "attached")
        elif there is not None and plan.before[name] != there.id:
            yield Change("~", "tool", name, plan.name, "attached by its new id")
    for name in plan.before:
        if name not in plan.after:
            why = agent.forbids.get(name, "")
            if name in wish.gone_names:
                why = f"now {wish.gone_names[name]}"
            detail = f"detached: {why}" if why else "detached"
            yield Change("-", "tool", name, plan.name, detail)
    before = _counted(plan.rules_before)
    after = _counted(plan.rules_after)
    for text, number in after.items():
        for _ in range(number - before.get(text, 0)):
            yield Change("+", "rule", text, plan.name)
    for text, number in before.items():
        for _ in range(number - after.get(text, 0)):
            yield Change("-", "rule", text, plan.name)


def _counted(rules: tuple[Mapping[str, Any], ...]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for rule in rules:
        text = rule_text(rule)
        counted[text] = counted.get(text, 0) + 1
    return counted

"""Whether the world is still the one that a plan was made for, or on the way to its end.

Everything must be as the plan found it or as it leaves it: so a run that was interrupted
can go on, and whatever anybody else did in between is seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..server.desired_state import Attachment
from ..server.state import AgentState, World
from ..server.tool_rules import same_rules
from .plan import AgentPlan, Plan
from .planning import entry_print, registry_prints, wish_digest

__all__ = ["agent_moved", "moved"]


def moved(plan: Plan, base_url: str, wish: Attachment, world: World) -> list[str]:
    """What is neither as before nor as behind the plan, in words; empty when all is."""
    return list(_moved(plan, base_url, wish, world))


def _moved(plan: Plan, base_url: str, wish: Attachment, world: World) -> Iterator[str]:
    if plan.base_url != base_url:
        yield f"the plan is for {plan.base_url}, not for {base_url}"
        return
    if plan.toolset != wish.toolset or plan.wish != wish_digest(wish):
        yield "the specs or their settings are not those that the plan was made from"
        return
    if plan.version != world.version:
        yield f"Letta is {world.version} now; it was {plan.version}"
    if world.unreachable:
        yield f"Letta cannot list the MCP server's tools: {world.unreachable}"
    else:
        live = {name: tool.digest for name, tool in world.live.items()}
        for name in sorted({*live, *plan.live}):
            if live.get(name) != plan.live.get(name):
                yield f"the MCP server offers `{name}` otherwise than then"
    if entry_print(world.entry) not in (
        plan.entry,
        f"http {wish.server_url} token",
    ):
        yield f"somebody changed the entry `{wish.server_name}`"
    for name, (now, _) in registry_prints(wish, world).items():
        if name in plan.registry:
            if now not in plan.registry[name]:
                yield f"somebody changed `{name}` in the registry"
        elif now is not None and name not in plan.live:
            yield f"`{name}` is in the registry, and was not"
    for agent in plan.agents:
        yield from agent_moved(agent, world.agents[agent.name], world)


def agent_moved(plan: AgentPlan, state: AgentState, world: World) -> Iterator[str]:
    """What somebody else did to an agent."""
    if state.type != plan.type:
        yield f"{plan.name} is a {state.type} now; it was a {plan.type}"
    for name, tool_id in state.tools.items():
        if name not in plan.before:
            if name not in plan.after:
                yield f"{plan.name} has got `{name}`"
        elif tool_id != plan.before[name]:
            there = world.registry.get(name)
            if there is None or there.id != tool_id:
                yield f"{plan.name} has another `{name}`"
    for name in plan.before:
        if name not in state.tools and name in plan.after and not world.is_ours(name):
            yield f"{plan.name} has lost `{name}`"
    if not same_rules(state.rules, plan.rules_before) and not same_rules(
        state.rules, plan.rules_after
    ):
        yield f"somebody changed the rules of {plan.name}"

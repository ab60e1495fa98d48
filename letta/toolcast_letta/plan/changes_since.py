"""Whether what is there is still what a plan was made for, or on the way to its end.

Everything must be as the plan found it or as it leaves it: so a run that was interrupted
can go on, and whatever anybody else did in between is seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..digests import compute_digest
from .agent_servers import build_desired_entry, set_entry
from .current_state import AgentState, CurrentState
from .desired_state import DesiredState
from .plan import AgentPlan, Plan
from .planning import compute_desired_digest, fingerprint_entry, fingerprint_registry
from .tool_rules import are_same_rules


def list_changes_since(
    plan: Plan, location: str, desired: DesiredState, current: CurrentState
) -> list[str]:
    """What is neither as before nor as behind the plan, in words; empty when all is."""
    return list(_compare_state(plan, location, desired, current))


def _compare_state(
    plan: Plan, location: str, desired: DesiredState, current: CurrentState
) -> Iterator[str]:
    if (plan.backend, plan.location) != (current.backend, location):
        yield f"the plan is for {plan.location}, not for {location}"
        return
    if plan.toolset != desired.toolset or plan.desired != compute_desired_digest(
        desired
    ):
        yield "the specs or their settings are not those that the plan was made from"
        return
    if plan.version != current.version:
        yield f"Letta is {current.version} now; it was {plan.version}"
    if current.unreachable:
        yield f"Letta cannot list the MCP server's tools: {current.unreachable}"
    else:
        offered = {name: tool.digest for name, tool in current.offered.items()}
        for name in sorted({*offered, *plan.offered}):
            if offered.get(name) != plan.offered.get(name):
                yield f"the MCP server offers `{name}` otherwise than then"
    if current.backend == "v1" and fingerprint_entry(current.entry) not in (
        plan.entry,
        f"http {desired.server_url} token",
    ):
        yield f"somebody changed the entry `{desired.server_name}`"
    for name, (now, _) in fingerprint_registry(desired, current).items():
        if name in plan.registry:
            if now not in plan.registry[name]:
                yield f"somebody changed `{name}` in the registry"
        elif now is not None and name not in plan.offered:
            yield f"`{name}` is in the registry, and was not"
    for agent in plan.agents:
        state = current.agents[agent.name]
        if current.backend == "code":
            yield from _compare_servers(agent, state, desired)
        else:
            yield from list_agent_changes_since(agent, state, current)


def _compare_servers(
    plan: AgentPlan, state: AgentState, desired: DesiredState
) -> Iterator[str]:
    """What somebody else did to an agent's list of servers."""
    if compute_digest(list(state.servers)) not in (
        plan.servers_before,
        plan.servers_after,
    ):
        yield f"somebody changed the servers of {plan.name}"
        return
    agent = next(one for one in desired.agents if one.name == plan.name)
    entry = build_desired_entry(state.servers, desired, agent)
    if compute_digest(set_entry(state.servers, entry)) != plan.servers_after:
        yield f"the token or a header of {plan.name} is another one now"


def list_agent_changes_since(
    plan: AgentPlan, state: AgentState, current: CurrentState
) -> Iterator[str]:
    """What somebody else did to an agent."""
    if state.type != plan.type:
        yield f"{plan.name} is a {state.type} now; it was a {plan.type}"
    for name, tool_id in state.tools.items():
        if name not in plan.tools_before:
            if name not in plan.tools_after:
                yield f"{plan.name} has got `{name}`"
        elif tool_id != plan.tools_before[name]:
            registered = current.registry.get(name)
            if registered is None or registered.id != tool_id:
                yield f"{plan.name} has another `{name}`"
    for name in plan.tools_before:
        if (
            name not in state.tools
            and name in plan.tools_after
            and not current.is_own_tool(name)
        ):
            yield f"{plan.name} has lost `{name}`"
    if not are_same_rules(state.rules, plan.rules_before) and not are_same_rules(
        state.rules, plan.rules_after
    ):
        yield f"somebody changed the rules of {plan.name}"

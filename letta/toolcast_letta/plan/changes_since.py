"""Detect changes by other clients since a plan was created.

Each part of Letta must be in its state before or after the plan. So an interrupted
apply can be continued, and any other change is detected.
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
    """Return descriptions of the changes since a plan was created.

    Parts that already have the plan's resulting state are not changes.
    """
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
        yield "the specs or their settings have changed"
        return
    if plan.version != current.version:
        yield (
            f"Letta's version is {current.version}; the plan was made for {plan.version}"
        )
    if current.unreachable:
        yield f"Letta cannot list the MCP server's tools: {current.unreachable}"
    else:
        offered = {name: tool.digest for name, tool in current.offered.items()}
        for name in sorted({*offered, *plan.offered}):
            if offered.get(name) != plan.offered.get(name):
                yield f"the MCP server added, changed or removed `{name}`"
    # The entry may be as it was before the plan, or already as the plan will make it.
    if current.backend == "v1" and fingerprint_entry(current.entry) not in (
        plan.entry,
        f"http {desired.server_url} token",
    ):
        yield f"the entry `{desired.server_name}` was changed"
    for name, (fingerprint, _) in fingerprint_registry(desired, current).items():
        if name in plan.registry:
            if fingerprint not in plan.registry[name]:
                yield f"`{name}` was changed in the registry"
        # Letta registers all tools of an MCP server together. So a new tool in the
        # registry is no change if the server listed the tool when the plan was made.
        elif fingerprint is not None and name not in plan.offered:
            yield f"`{name}` was added to the registry"
    for agent in plan.agents:
        state = current.agents[agent.name]
        if current.backend == "code":
            yield from _compare_servers(agent, state, desired)
        else:
            yield from list_agent_changes_since(agent, state, current)


def _compare_servers(
    plan: AgentPlan, state: AgentState, desired: DesiredState
) -> Iterator[str]:
    """Yield a description of the change of an agent's list of MCP servers.

    Nothing if the list is as before or after the plan, with the same token and headers.
    """
    if compute_digest(list(state.servers)) not in (
        plan.servers_before,
        plan.servers_after,
    ):
        yield f"the MCP servers of {plan.name} were changed"
        return
    agent = next(agent for agent in desired.agents if agent.name == plan.name)
    # Plans contain only digests of entries, so another token is recognized by the
    # digest of the entry that would be written now.
    entry = build_desired_entry(state.servers, desired, agent)
    if compute_digest(set_entry(state.servers, entry)) != plan.servers_after:
        yield f"the token or a header for {plan.name} was changed"


def list_agent_changes_since(
    plan: AgentPlan, state: AgentState, current: CurrentState
) -> Iterator[str]:
    """Yield descriptions of how an agent has changed since the plan was created.

    Tools and rules that already are as after the plan are no changes.
    """
    if state.type != plan.type:
        yield f"the type of {plan.name} changed from {plan.type} to {state.type}"
    for name, tool_id in state.tools.items():
        if name not in plan.tools_before:
            if name not in plan.tools_after:
                yield f"`{name}` was attached to {plan.name}"
        # The id of the registered tool is accepted: an interrupted apply can already
        # have attached the tool by its new id.
        elif tool_id != plan.tools_before[name]:
            registered = current.registry.get(name)
            if registered is None or registered.id != tool_id:
                yield f"`{name}` of {plan.name} was replaced by another tool of that name"
    for name in plan.tools_before:
        if (
            name not in state.tools
            and name in plan.tools_after
            and not current.is_own_tool(name)
        ):
            yield f"`{name}` was detached from {plan.name}"
    if not are_same_rules(state.rules, plan.rules_before) and not are_same_rules(
        state.rules, plan.rules_after
    ):
        yield f"the rules of {plan.name} were changed"

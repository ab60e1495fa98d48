"""What is wanted and what is there, as values, for tests of plans that need no server."""

from __future__ import annotations

from typing import Any

from toolcast_letta.plan.current_state import (
    AgentState,
    CurrentState,
    OfferedTool,
    RegisteredTool,
    ServerEntry,
)
from toolcast_letta.plan.desired_state import DesiredAgent, DesiredState, DesiredTool
from toolcast_letta.plan.plan import Overrides, Plan
from toolcast_letta.plan.planning import build_plan

URL = "https://mcp.test/mcp"
PARAMETERS = {"type": "object", "properties": {}}
CORE = ("conversation_search", "memory", "send_message")
"""Letta's own tools that every agent here has."""


def tool(name: str, *former: str, **part: Any) -> DesiredTool:
    says = {"attached": True, **part}
    return DesiredTool(name, f"Does {name}.", PARAMETERS, says, True, (), former)


def agent(**more: Any) -> DesiredAgent:
    return DesiredAgent("me", id="agent-1", **more)


def desired(
    *tools: DesiredTool, agents: Any = None, token: str | None = None, **more: Any
) -> DesiredState:
    named = {one.name: one for one in tools}
    who = (agent(),) if agents is None else agents
    return DesiredState("toys", "toys", URL, token, named, who, **more)


def offered(*tools: DesiredTool, **problems: str) -> dict[str, OfferedTool]:
    return {
        one.name: OfferedTool(one.name, one.digest, problems.get(one.name, ""))
        for one in tools
    }


def registered(name: str, **more: Any) -> RegisteredTool:
    """One of the toolset's, as it should be."""
    known = {
        "id": f"id-{name}",
        "type": "external_mcp",
        "server_id": "mcp-1",
        "digest": tool(name).digest,
        "called_at": "toys",
    }
    return RegisteredTool(**{"name": name, **known, **more})


def built_in(name: str, **more: Any) -> RegisteredTool:
    own = {"type": "letta_core", "server_id": None, "called_at": ""}
    return registered(name, **{**own, **more})


def by_name(*tools: RegisteredTool) -> dict[str, RegisteredTool]:
    return {one.name: one for one in tools}


def state(*names: str, rules: Any = (), **more: Any) -> AgentState:
    tools = {name: f"id-{name}" for name in names}
    kind = more.pop("type", "letta_v1_agent")
    return AgentState("agent-1", "me", kind, tools, tuple(rules), **more)


def rule(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "type": kind, **more}


def entry(url: str = URL, *, is_http: bool = True, has_token: bool = True) -> Any:
    return ServerEntry("mcp-1", "toys", url, is_http=is_http, has_token=has_token)


def current(wanted: DesiredState, *tools: RegisteredTool, **more: Any) -> CurrentState:
    """A server of Letta that has what is Letta's own, and these tools."""
    known = {
        "backend": "v1",
        "version": "0.16.6",
        "entry": entry(),
        "offered": offered(*wanted.tools.values()),
        "unreachable": "",
        "registry": by_name(*map(built_in, CORE), *tools),
        "agents": {"me": state(*CORE, *(one.name for one in tools))},
    }
    return CurrentState(**{**known, **more})


ADD = desired(tool("add"))
"""One tool."""


def planned(wanted: DesiredState, found: CurrentState, **more: Any) -> Plan:
    return build_plan("https://letta.test", wanted, found, Overrides(**more))


def as_it_is(**more: Any) -> CurrentState:
    """What is there once `ADD` was applied, but for what is said."""
    return current(ADD, registered("add"), **more)


def has(*rules: Any, names: tuple[str, ...] = (*CORE, "add"), **more: Any) -> Any:
    """The agent with these rules and tools."""
    return {"agents": {"me": state(*names, rules=rules, **more)}}

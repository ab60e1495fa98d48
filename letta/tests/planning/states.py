"""Desired and current states as values, for tests of plans without a server."""

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
"""The built-in tools of every agent in these tests."""


def make_tool(name: str, *previous_names: str, **part: Any) -> DesiredTool:
    definition = {"attached": True, **part}
    return DesiredTool(
        name, f"Does {name}.", PARAMETERS, definition, True, (), previous_names
    )


def make_agent(**more: Any) -> DesiredAgent:
    return DesiredAgent("me", id="agent-1", **more)


def make_desired(
    *tools: DesiredTool, agents: Any = None, token: str | None = None, **more: Any
) -> DesiredState:
    named = {tool_.name: tool_ for tool_ in tools}
    agents_ = (make_agent(),) if agents is None else agents
    return DesiredState("toys", "toys", URL, token, named, agents_, **more)


def offer_tools(*tools: DesiredTool, **problems: str) -> dict[str, OfferedTool]:
    return {
        tool_.name: OfferedTool(tool_.name, tool_.digest, problems.get(tool_.name, ""))
        for tool_ in tools
    }


def make_registered(name: str, **more: Any) -> RegisteredTool:
    """Return a registered tool of the toolset that matches its spec."""
    known = {
        "id": f"id-{name}",
        "type": "external_mcp",
        "server_id": "mcp-1",
        "digest": make_tool(name).digest,
        "called_at": "toys",
    }
    return RegisteredTool(**{"name": name, **known, **more})


def make_built_in(name: str, **more: Any) -> RegisteredTool:
    own = {"type": "letta_core", "server_id": None, "called_at": ""}
    return make_registered(name, **{**own, **more})


def index_by_name(*tools: RegisteredTool) -> dict[str, RegisteredTool]:
    return {tool.name: tool for tool in tools}


def make_state(*names: str, rules: Any = (), **more: Any) -> AgentState:
    tools = {name: f"id-{name}" for name in names}
    kind = more.pop("type", "letta_v1_agent")
    return AgentState("agent-1", "me", kind, tools, tuple(rules), **more)


def make_rule(name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "type": kind, **more}


def make_entry(url: str = URL, *, is_http: bool = True, has_token: bool = True) -> Any:
    return ServerEntry("mcp-1", "toys", url, is_http=is_http, has_token=has_token)


def make_current(
    wanted: DesiredState, *tools: RegisteredTool, **more: Any
) -> CurrentState:
    """Return the state of a Letta server with its built-in tools and these tools."""
    known = {
        "backend": "v1",
        "version": "0.16.6",
        "entry": make_entry(),
        "offered": offer_tools(*wanted.tools.values()),
        "unreachable": "",
        "registry": index_by_name(*map(make_built_in, CORE), *tools),
        "agents": {"me": make_state(*CORE, *(tool.name for tool in tools))},
    }
    return CurrentState(**{**known, **more})


ADD = make_desired(make_tool("add"))
"""A desired state with one tool."""


def make_plan(wanted: DesiredState, found: CurrentState, **more: Any) -> Plan:
    return build_plan("https://letta.test", wanted, found, Overrides(**more))


def make_applied(**more: Any) -> CurrentState:
    """Return the state after `ADD` was applied, with these differences."""
    return make_current(ADD, make_registered("add"), **more)


def make_agents(
    *rules: Any, names: tuple[str, ...] = (*CORE, "add"), **more: Any
) -> Any:
    """Return the agent with these rules and tools."""
    return {"agents": {"me": make_state(*names, rules=rules, **more)}}

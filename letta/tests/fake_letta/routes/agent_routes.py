"""Routes for agents, their tools and turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RequestRefusedError
from ..rows import Agent
from ..turns import run_turn
from .routing import Routes, check_id, get_agent, get_arguments

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


def _encode_agent(request: Request, agent: Agent, *, complete: bool) -> dict[str, Any]:
    """Return the agent's JSON form; `complete` includes its tools."""
    tools = (
        [tool.encode() for tool in request.world.list_attached_tools(agent)]
        if complete
        else []
    )
    named = request.get_values("include")
    has_tags = "agent.tags" in named if named else complete
    return {
        "id": agent.id,
        "name": agent.name,
        "agent_type": agent.agent_type,
        "tools": tools,
        "tool_rules": agent.tool_rules,
        "llm_config": agent.llm_config,
        "model": agent.llm_config.get("model"),
        "tags": agent.tags if has_tags else [],
        "memory": {"blocks": list(agent.blocks.values())},
        "blocks": list(agent.blocks.values()),
        "last_stop_reason": agent.last_stop_reason,
        "message_ids": [],
        "metadata": None,
        "secrets": [],
    }


def _includes_tools(request: Request) -> bool:
    if "agent.tools" in (request.get_values("include") or ()):
        return True
    relationships = request.get_values("include_relationships")
    if relationships is not None:
        return "tools" in relationships
    return not request.is_sdk


@ROUTES.add("GET", "/v1/agents/")
def list_agents(request: Request) -> Any:
    """List agents in pages of 50."""
    agents = list(request.world.agents.values())[::-1]
    after = request.get_value("after")
    if after is not None:
        ids = [agent.id for agent in agents]
        agents = agents[ids.index(after) + 1 :] if after in ids else []
    agents = agents[: request.get_number("limit", 50)]
    complete = _includes_tools(request)
    return [_encode_agent(request, agent, complete=complete) for agent in agents]


@ROUTES.add("POST", "/v1/agents/")
def create_agent(request: Request) -> Any:
    """Create an agent without a request to its model."""
    agent = request.world.create_agent(request.body)
    return _encode_agent(request, agent, complete=True)


@ROUTES.add("GET", "/v1/agents/([^/]+)")
def retrieve_agent(request: Request, agent_id: str) -> Any:
    """Return an agent."""
    agent = get_agent(request, agent_id)
    return _encode_agent(request, agent, complete=_includes_tools(request))


@ROUTES.add("PATCH", "/v1/agents/([^/]+)")
def update_agent(request: Request, agent_id: str) -> Any:
    """Update an agent and return it."""
    agent = get_agent(request, agent_id)
    for tool_id in (request.body or {}).get("tool_ids") or ():
        check_id("tool", tool_id)
    request.world.update_agent(agent, request.body or {})
    return _encode_agent(request, agent, complete=True)


@ROUTES.add("DELETE", "/v1/agents/([^/]+)")
def delete_agent(request: Request, agent_id: str) -> Any:
    """Delete an agent."""
    del request.world.agents[get_agent(request, agent_id).id]


@ROUTES.add("GET", "/v1/agents/([^/]+)/tools")
def list_agent_tools(request: Request, agent_id: str) -> Any:
    """List tools in pages of 10, sorted by time and cut by id, as Letta does."""
    agent = get_agent(request, agent_id)
    rows = request.world.list_attached_tools(agent)
    after, before = request.get_value("after"), request.get_value("before")
    if after is not None:
        rows = [tool for tool in rows if tool.id > after]
    if before is not None:
        rows = [tool for tool in rows if tool.id < before]
    rows.sort(
        key=lambda tool: tool.created,
        reverse=request.get_value("order", "desc") == "desc",
    )
    return [tool.encode() for tool in rows[: request.get_number("limit", 10)]]


@ROUTES.add("PATCH", "/v1/agents/([^/]+)/tools/attach/([^/]+)")
def attach_tool(request: Request, agent_id: str, tool_id: str) -> Any:
    """Attach a tool; 404 for an unknown tool."""
    agent = get_agent(request, agent_id)
    check_id("tool", tool_id)
    if tool_id not in request.world.tools:
        raise RequestRefusedError(
            404, f"Tool with id={tool_id} not found in organization"
        )
    request.world.attach(agent, request.world.tools[tool_id])
    return None if request.is_sdk else _encode_agent(request, agent, complete=True)


@ROUTES.add("PATCH", "/v1/agents/([^/]+)/tools/detach/([^/]+)")
def detach_tool(request: Request, agent_id: str, tool_id: str) -> Any:
    """Detach a tool and keep its rules; 200 also for unknown tools."""
    agent = get_agent(request, agent_id)
    agent.tool_ids = [
        attached_id for attached_id in agent.tool_ids if attached_id != tool_id
    ]
    return None if request.is_sdk else _encode_agent(request, agent, complete=True)


@ROUTES.add("PATCH", "/v1/agents/([^/]+)/tools/approval/([^/]+)")
def set_approval(request: Request, agent_id: str, name: str) -> Any:
    """Set the approval rule of a tool, attached or not."""
    agent = get_agent(request, agent_id)
    required = (request.body or {}).get("requires_approval")
    if required is None:
        required = request.get_value("requires_approval") == "true"
    request.world.set_approval(agent, name, bool(required))
    return None if request.is_sdk else _encode_agent(request, agent, complete=True)


@ROUTES.add("POST", "/v1/agents/([^/]+)/tools/([^/]+)/run")
def run_attached_tool(request: Request, agent_id: str, name: str) -> Any:
    """Run a tool without a model; 404 if it is not attached."""
    agent = get_agent(request, agent_id)
    attached = {tool.name: tool for tool in request.world.list_attached_tools(agent)}
    if name not in attached:
        raise RequestRefusedError(
            404, f"Tool '{name}' not found or not attached to agent '{agent_id}'"
        )
    text, ok = request.world.run_tool(agent, attached[name], get_arguments(request))
    return {
        "status": "success" if ok else "error",
        "func_return": text if ok else None,
        "agent_state": None,
        "stdout": None,
        "stderr": None,
        "sandbox_config_fingerprint": None,
    }


@ROUTES.add("POST", "/v1/agents/([^/]+)/messages")
def send_message(request: Request, agent_id: str) -> Any:
    """Run a turn with the scripted model."""
    agent = get_agent(request, agent_id)
    if (request.body or {}).get("streaming") and not request.is_sdk:
        raise RequestRefusedError(422, "streaming is for the SDK")
    return run_turn(request.world, agent, request.body or {}, request.fake.script)


@ROUTES.add("GET", "/v1/agents/([^/]+)/messages")
def list_messages(request: Request, agent_id: str) -> Any:
    """Return the agent's messages."""
    return get_agent(request, agent_id).messages[
        -(request.get_number("limit", 100) or 100) :
    ]

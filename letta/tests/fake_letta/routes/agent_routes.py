"""Agents, their tools and their turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..refused import RequestRefusedError
from ..rows import Agent
from ..turns import run_turn
from .routing import Routes, agent_of, arguments_of, check_id

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


def _shown_agent(request: Request, agent: Agent, *, complete: bool) -> dict[str, Any]:
    """Tools are in it when they were asked for, or when no SDK asks."""
    tools = [tool.shown() for tool in request.world.attached(agent)] if complete else []
    named = request.many("include")
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


def _wants_tools(request: Request) -> bool:
    if "agent.tools" in (request.many("include") or ()):
        return True
    relationships = request.many("include_relationships")
    if relationships is not None:
        return "tools" in relationships
    return not request.is_sdk


@ROUTES.on("GET", "/v1/agents/")
def list_agents(request: Request) -> Any:
    """50 at a time; tools only when asked for."""
    agents = list(request.world.agents.values())[::-1]
    after = request.one("after")
    if after is not None:
        ids = [agent.id for agent in agents]
        agents = agents[ids.index(after) + 1 :] if after in ids else []
    agents = agents[: request.number("limit", 50)]
    complete = _wants_tools(request)
    return [_shown_agent(request, agent, complete=complete) for agent in agents]


@ROUTES.on("POST", "/v1/agents/")
def create_agent(request: Request) -> Any:
    """No model is asked."""
    agent = request.world.create_agent(request.body)
    return _shown_agent(request, agent, complete=True)


@ROUTES.on("GET", "/v1/agents/([^/]+)")
def retrieve_agent(request: Request, agent_id: str) -> Any:
    """One agent."""
    agent = agent_of(request, agent_id)
    return _shown_agent(request, agent, complete=_wants_tools(request))


@ROUTES.on("PATCH", "/v1/agents/([^/]+)")
def update_agent(request: Request, agent_id: str) -> Any:
    """Answers with the whole agent."""
    agent = agent_of(request, agent_id)
    for one in (request.body or {}).get("tool_ids") or ():
        check_id("tool", one)
    request.world.update_agent(agent, request.body or {})
    return _shown_agent(request, agent, complete=True)


@ROUTES.on("DELETE", "/v1/agents/([^/]+)")
def delete_agent(request: Request, agent_id: str) -> Any:
    """Gone."""
    del request.world.agents[agent_of(request, agent_id).id]


@ROUTES.on("GET", "/v1/agents/([^/]+)/tools")
def agent_tools(request: Request, agent_id: str) -> Any:
    """10 at a time, sorted by time and cut by id: a cursor loses and repeats tools."""
    agent = agent_of(request, agent_id)
    rows = request.world.attached(agent)
    after, before = request.one("after"), request.one("before")
    if after is not None:
        rows = [tool for tool in rows if tool.id > after]
    if before is not None:
        rows = [tool for tool in rows if tool.id < before]
    rows.sort(
        key=lambda tool: tool.created, reverse=request.one("order", "desc") == "desc"
    )
    return [tool.shown() for tool in rows[: request.number("limit", 10)]]


@ROUTES.on("PATCH", "/v1/agents/([^/]+)/tools/attach/([^/]+)")
def attach(request: Request, agent_id: str, tool_id: str) -> Any:
    """Idempotent; 404 for an unknown tool."""
    agent = agent_of(request, agent_id)
    check_id("tool", tool_id)
    if tool_id not in request.world.tools:
        raise RequestRefusedError(
            404, f"Tool with id={tool_id} not found in organization"
        )
    request.world.attach(agent, request.world.tools[tool_id])
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@ROUTES.on("PATCH", "/v1/agents/([^/]+)/tools/detach/([^/]+)")
def detach(request: Request, agent_id: str, tool_id: str) -> Any:
    """200 for anything; rules stay."""
    agent = agent_of(request, agent_id)
    agent.tool_ids = [one for one in agent.tool_ids if one != tool_id]
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@ROUTES.on("PATCH", "/v1/agents/([^/]+)/tools/approval/([^/]+)")
def approval(request: Request, agent_id: str, name: str) -> Any:
    """Whether the tool is attached or not."""
    agent = agent_of(request, agent_id)
    required = (request.body or {}).get("requires_approval")
    if required is None:
        required = request.one("requires_approval") == "true"
    request.world.set_approval(agent, name, bool(required))
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@ROUTES.on("POST", "/v1/agents/([^/]+)/tools/([^/]+)/run")
def run_attached(request: Request, agent_id: str, name: str) -> Any:
    """Without a model; 404 when it is not attached."""
    agent = agent_of(request, agent_id)
    attached = {tool.name: tool for tool in request.world.attached(agent)}
    if name not in attached:
        raise RequestRefusedError(
            404, f"Tool '{name}' not found or not attached to agent '{agent_id}'"
        )
    text, ok = request.world.run_tool(agent, attached[name], arguments_of(request))
    return {
        "status": "success" if ok else "error",
        "func_return": text if ok else None,
        "agent_state": None,
        "stdout": None,
        "stderr": None,
        "sandbox_config_fingerprint": None,
    }


@ROUTES.on("POST", "/v1/agents/([^/]+)/messages")
def send_message(request: Request, agent_id: str) -> Any:
    """A turn with the scripted model."""
    agent = agent_of(request, agent_id)
    if (request.body or {}).get("streaming") and not request.is_sdk:
        raise RequestRefusedError(422, "streaming is for the SDK")
    return run_turn(request.world, agent, request.body or {}, request.fake.script)


@ROUTES.on("GET", "/v1/agents/([^/]+)/messages")
def list_messages(request: Request, agent_id: str) -> Any:
    """What was said."""
    return agent_of(request, agent_id).messages[
        -(request.number("limit", 100) or 100) :
    ]

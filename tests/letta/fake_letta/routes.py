"""Every route of the fake, each as Letta 0.16.6 answers it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .mcp_side import Unreachable
from .turns import run_turn
from .world import Agent, Entry, Refused, Tool, is_id

if TYPE_CHECKING:
    from .serving import Request

__all__ = ["ROUTES"]

Handle = Callable[..., Any]
ROUTES: list[tuple[str, str, Handle]] = []


def _route(method: str, pattern: str) -> Callable[[Handle], Handle]:
    def keep(handle: Handle) -> Handle:
        ROUTES.append((method, pattern, handle))
        return handle

    return keep


def _agent(request: Request, agent_id: str) -> Agent:
    _well_formed("agent", agent_id)
    agent = request.world.agents.get(agent_id)
    if agent is None:
        raise Refused(404, "Agent not found")
    return agent


def _tool(request: Request, tool_id: str) -> Tool:
    _well_formed("tool", tool_id)
    tool = request.world.tools.get(tool_id)
    if tool is None:
        raise Refused(404, f"Tool with id {tool_id} not found.")
    return tool


def _well_formed(kind: str, given: str) -> None:
    if not is_id(kind, given):
        raise Refused(
            422, f"[{{'type': 'string_pattern_mismatch', 'input': '{given}'}}]"
        )


def _entry(request: Request, entry_id: str) -> Entry:
    entry = request.world.entries.get(entry_id)
    if entry is None:
        raise Refused(404, f"NoResultFound: MCPServer with id {entry_id} not found")
    return entry


def _entry_named(request: Request, name: str) -> Entry:
    entry = request.world.entry_named(name)
    if entry is None:
        raise Refused(400, f"MCP server '{name}' not found")
    return entry


def _unreachable(error: Unreachable) -> Refused:
    return Refused(
        502,
        {
            "error": {
                "type": "mcp_connection_error",
                "message": "Failed to connect to MCP server.",
                "detail": str(error),
            }
        },
    )


def _shown_agent(request: Request, agent: Agent, *, complete: bool) -> dict[str, Any]:
    """Tools are in it when they were asked for, or when no SDK asks."""
    tools = [tool.shown() for tool in request.world.attached(agent)] if complete else []
    return {
        "id": agent.id,
        "name": agent.name,
        "agent_type": agent.agent_type,
        "tools": tools,
        "tool_rules": agent.tool_rules,
        "llm_config": agent.llm_config,
        "model": agent.llm_config.get("model"),
        "tags": agent.tags,
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


# -- health and registry -------------------------------------------------------------


@_route("GET", "/v1/health/")
def health(request: Request) -> Any:
    """Open in secure mode, too."""
    return {"version": request.world.version, "status": "ok"}


@_route("GET", "/v1/tools/count")
def count_tools(request: Request) -> Any:
    """Every tool of the organisation."""
    return len(request.world.tools)


@_route("GET", "/v1/tools/")
def list_tools(request: Request) -> Any:
    """A page of the registry."""
    names = [*(request.many("name") or ()), *(request.many("names") or ())]
    page = request.world.list_tools(
        limit=request.number("limit", 50),
        after=request.one("after"),
        before=request.one("before"),
        ascending=request.one("order", "desc") == "asc",
        names=names or None,
        types=request.many("tool_types"),
    )
    return [tool.shown() for tool in page]


@_route("POST", "/v1/tools/")
def create_tool(request: Request) -> Any:
    """A custom tool, named by its schema."""
    schema = request.body.get("json_schema")
    if not schema:
        raise Refused(501, "this fake derives no schema from source code")
    if request.world.tool_named(schema["name"]) is not None:
        raise Refused(
            409, f"Unable to create tool; name '{schema['name']}' already exists."
        )
    tool = request.world.custom_tool(
        schema["name"],
        json_schema=schema,
        description=schema.get("description"),
        source_code=request.body.get("source_code"),
    )
    return tool.shown()


@_route("GET", "/v1/tools/mcp/servers")
def legacy_servers(request: Request) -> Any:
    """By name."""
    return {e.server_name: e.shown() for e in request.world.entries.values()}


@_route("POST", "/v1/tools/mcp/servers/test")
def try_server(request: Request) -> Any:
    """What a server offers that has no entry."""
    config = dict(request.body)
    entry = Entry("", config.get("server_name", ""), config)
    try:
        side = request.world.reach(config)
        tools = side.list_tools(entry.headers({}))
    except Unreachable as error:
        raise _unreachable(error) from error
    return {"status": "success", "tools": [{**tool, "health": None} for tool in tools]}


@_route("GET", "/v1/tools/mcp/servers/([^/]+)/tools")
def live_tools(request: Request, name: str) -> Any:
    """The only view of what the server offers now."""
    entry = _entry_named(request, name)
    try:
        return request.world.live_tools(entry)
    except Unreachable as error:
        raise _unreachable(error) from error


@_route("POST", "/v1/tools/mcp/servers/([^/]+)/([^/]+)")
def register_tool(request: Request, server: str, name: str) -> Any:
    """Upserts one tool; an unknown one is a 500."""
    entry = _entry_named(request, server)
    try:
        live = {tool["name"]: tool for tool in request.world.live_tools(entry)}
    except Unreachable as error:
        raise _unreachable(error) from error
    if name not in live:
        raise Refused(500, "An unknown error occurred")
    return request.world.register(entry, live[name]).shown()


@_route("GET", "/v1/tools/([^/]+)")
def retrieve_tool(request: Request, tool_id: str) -> Any:
    """One row."""
    return _tool(request, tool_id).shown()


@_route("PATCH", "/v1/tools/([^/]+)")
def modify_tool(request: Request, tool_id: str) -> Any:
    """Settings of one row."""
    tool = _tool(request, tool_id)
    for key in (
        *("description", "tags", "return_char_limit", "default_requires_approval"),
        *("enable_parallel_execution", "json_schema"),
    ):
        if request.body.get(key) is not None:
            setattr(tool, key, request.body[key])
    return tool.shown()


@_route("DELETE", "/v1/tools/([^/]+)")
def delete_tool(request: Request, tool_id: str) -> Any:
    """Every agent loses it."""
    request.world.delete_tool(_tool(request, tool_id).id)


# -- MCP servers ---------------------------------------------------------------------


@_route("GET", "/v1/mcp-servers/")
def list_servers(request: Request) -> Any:
    """All of them, without pages."""
    return [entry.shown() for entry in request.world.entries.values()]


@_route("POST", "/v1/mcp-servers/")
def create_server(request: Request) -> Any:
    """An unreachable server gives 200, and no tools."""
    config = dict(request.body["config"])
    config.setdefault("mcp_server_type", "streamable_http")
    for key in ("auth_header", "auth_token", "custom_headers"):
        config.setdefault(key, None)
    return request.world.create_entry(request.body["server_name"], config).shown()


@_route("GET", "/v1/mcp-servers/([^/]+)")
def retrieve_server(request: Request, entry_id: str) -> Any:
    """One entry."""
    return _entry(request, entry_id).shown()


@_route("PATCH", "/v1/mcp-servers/([^/]+)")
def update_server(request: Request, entry_id: str) -> Any:
    """URL and headers; the URL is required, a token is not taken."""
    config = request.body.get("config") or {}
    if "server_url" not in config:
        raise Refused(422, "[{'type': 'missing', 'loc': ('config', 'server_url')}]")
    entry = _entry(request, entry_id)
    name = request.body.get("server_name")
    return request.world.update_entry(entry, name, config).shown()


@_route("DELETE", "/v1/mcp-servers/([^/]+)")
def delete_server(request: Request, entry_id: str) -> Any:
    """Its tools go with it."""
    request.world.delete_entry(_entry(request, entry_id))


@_route("GET", "/v1/mcp-servers/([^/]+)/tools")
def server_tools(request: Request, entry_id: str) -> Any:
    """Registered ones; an unknown entry has none."""
    ids = {tool for entry, tool in request.world.mcp_tools if entry == entry_id}
    world = request.world
    return [tool.shown() for tool in world.tools.values() if tool.id in ids]


@_route("POST", "/v1/mcp-servers/([^/]+)/tools/([^/]+)/run")
def run_server_tool(request: Request, entry_id: str, tool_id: str) -> Any:
    """Without an agent."""
    _entry(request, entry_id)
    tool = _tool(request, tool_id)
    text, success = request.world.run_tool(None, tool, _arguments(request))
    return {"status": "success" if success else "error", "func_return": text}


@_route("PATCH", "/v1/mcp-servers/([^/]+)/refresh")
def refresh(request: Request, entry_id: str) -> Any:
    """Destructive."""
    return request.world.refresh(_entry(request, entry_id))


def _arguments(request: Request) -> dict[str, Any]:
    return dict((request.body or {}).get("args") or {})


# -- agents --------------------------------------------------------------------------


@_route("GET", "/v1/agents/")
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


@_route("POST", "/v1/agents/")
def create_agent(request: Request) -> Any:
    """No model is asked."""
    agent = request.world.create_agent(request.body)
    return _shown_agent(request, agent, complete=True)


@_route("GET", "/v1/agents/([^/]+)")
def retrieve_agent(request: Request, agent_id: str) -> Any:
    """One agent."""
    agent = _agent(request, agent_id)
    return _shown_agent(request, agent, complete=_wants_tools(request))


@_route("PATCH", "/v1/agents/([^/]+)")
def update_agent(request: Request, agent_id: str) -> Any:
    """Answers with the whole agent."""
    agent = _agent(request, agent_id)
    for one in (request.body or {}).get("tool_ids") or ():
        _well_formed("tool", one)
    request.world.update_agent(agent, request.body or {})
    return _shown_agent(request, agent, complete=True)


@_route("DELETE", "/v1/agents/([^/]+)")
def delete_agent(request: Request, agent_id: str) -> Any:
    """Gone."""
    del request.world.agents[_agent(request, agent_id).id]


@_route("GET", "/v1/agents/([^/]+)/tools")
def agent_tools(request: Request, agent_id: str) -> Any:
    """10 at a time, sorted by time and cut by id: a cursor loses and repeats tools."""
    agent = _agent(request, agent_id)
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


@_route("PATCH", "/v1/agents/([^/]+)/tools/attach/([^/]+)")
def attach(request: Request, agent_id: str, tool_id: str) -> Any:
    """Idempotent; 404 for an unknown tool."""
    agent = _agent(request, agent_id)
    _well_formed("tool", tool_id)
    if tool_id not in request.world.tools:
        raise Refused(404, f"Tool with id={tool_id} not found in organization")
    request.world.attach(agent, request.world.tools[tool_id])
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@_route("PATCH", "/v1/agents/([^/]+)/tools/detach/([^/]+)")
def detach(request: Request, agent_id: str, tool_id: str) -> Any:
    """200 for anything; rules stay."""
    agent = _agent(request, agent_id)
    agent.tool_ids = [one for one in agent.tool_ids if one != tool_id]
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@_route("PATCH", "/v1/agents/([^/]+)/tools/approval/([^/]+)")
def approval(request: Request, agent_id: str, name: str) -> Any:
    """Whether the tool is attached or not."""
    agent = _agent(request, agent_id)
    required = (request.body or {}).get("requires_approval")
    if required is None:
        required = request.one("requires_approval") == "true"
    request.world.set_approval(agent, name, bool(required))
    return None if request.is_sdk else _shown_agent(request, agent, complete=True)


@_route("POST", "/v1/agents/([^/]+)/tools/([^/]+)/run")
def run_attached(request: Request, agent_id: str, name: str) -> Any:
    """Without a model; 404 when it is not attached."""
    agent = _agent(request, agent_id)
    attached = {tool.name: tool for tool in request.world.attached(agent)}
    if name not in attached:
        raise Refused(
            404, f"Tool '{name}' not found or not attached to agent '{agent_id}'"
        )
    text, ok = request.world.run_tool(agent, attached[name], _arguments(request))
    return {
        "status": "success" if ok else "error",
        "func_return": text if ok else None,
        "agent_state": None,
        "stdout": None,
        "stderr": None,
        "sandbox_config_fingerprint": None,
    }


@_route("POST", "/v1/agents/([^/]+)/messages")
def send_message(request: Request, agent_id: str) -> Any:
    """A turn with the scripted model."""
    agent = _agent(request, agent_id)
    if (request.body or {}).get("streaming") and not request.is_sdk:
        raise Refused(422, "streaming is for the SDK")
    return run_turn(request.world, agent, request.body or {}, request.fake.script)


@_route("GET", "/v1/agents/([^/]+)/messages")
def list_messages(request: Request, agent_id: str) -> Any:
    """What was said."""
    return _agent(request, agent_id).messages[-(request.number("limit", 100) or 100) :]


# -- memory --------------------------------------------------------------------------


def _block(request: Request, agent_id: str, label: str) -> dict[str, Any]:
    agent = _agent(request, agent_id)
    if label not in agent.blocks:
        raise Refused(
            404,
            f"No block with label '{label}' found for agent '{agent_id}'",
        )
    return agent.blocks[label]


@_route("GET", "/v1/agents/([^/]+)/core-memory/blocks")
def list_blocks(request: Request, agent_id: str) -> Any:
    """All of the agent's blocks."""
    return list(_agent(request, agent_id).blocks.values())


@_route("GET", "/v1/agents/([^/]+)/core-memory/blocks/([^/]+)")
def read_block(request: Request, agent_id: str, label: str) -> Any:
    """One block."""
    return _block(request, agent_id, label)


@_route("PATCH", "/v1/agents/([^/]+)/core-memory/blocks/([^/]+)")
def write_block(request: Request, agent_id: str, label: str) -> Any:
    """The given fields are replaced."""
    block = _block(request, agent_id, label)
    value = request.body.get("value")
    limit = request.body.get("limit") or block["limit"]
    if value is not None and len(value) > limit:
        raise Refused(
            400,
            f"Edit failed: Exceeds {limit} character limit (requested {len(value)})",
        )
    changed = {k: v for k, v in request.body.items() if k in block and v is not None}
    block.update(changed)
    return block


@_route("GET", "/v1/agents/([^/]+)/archival-memory")
def list_passages(request: Request, agent_id: str) -> Any:
    """Newest last."""
    return list(_agent(request, agent_id).passages.values())


@_route("POST", "/v1/agents/([^/]+)/archival-memory")
def create_passage(request: Request, agent_id: str) -> Any:
    """A list of one."""
    agent = _agent(request, agent_id)
    passage = {
        "id": request.world.new_id("passage"),
        "text": request.body["text"],
        "tags": request.body.get("tags") or [],
        "metadata": {},
    }
    agent.passages[passage["id"]] = passage
    return [passage]


@_route("DELETE", "/v1/agents/([^/]+)/archival-memory/([^/]+)")
def delete_passage(request: Request, agent_id: str, passage_id: str) -> Any:
    """404 when it is not there."""
    agent = _agent(request, agent_id)
    if agent.passages.pop(passage_id, None) is None:
        raise Refused(404, f"Passage with id {passage_id} not found.")
    return {"message": f"Memory id={passage_id} successfully deleted"}

"""What a refresh updates, deletes, takes over and leaves out."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import tool
from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios.registering import (
    INTEGER,
    MCP_TOOLS,
    OWNED,
    TOOLS,
    entry,
)

__all__ = ["SCENARIOS"]

ATTACHED = "sort_by(tools, &name)[].{name: name, id: id, type: tool_type}"


def agent_with(letta: Exchange, *names: str, **more: Any) -> str:
    """An agent with these tools and no built-in ones; gives its path."""
    body = {
        "name": "worker",
        "agent_type": "letta_v1_agent",
        "include_base_tools": False,
        "tools": list(names),
        "llm_config": {
            "model": "none",
            "model_endpoint_type": "openai",
            "model_endpoint": "http://127.0.0.1:9/v1",
            "context_window": 32000,
        },
        **more,
    }
    made = letta.ask("POST", "/v1/agents/", body, keep=ATTACHED)
    return f"/v1/agents/{made['id']}"


def updating(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add", a=INTEGER))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    agent = agent_with(letta, "add")
    lab.tools = [tool("add", "Adds up.", a=INTEGER, b=INTEGER)]
    kept = (
        "[].{id: id, description: description, needs: json_schema.parameters.required}"
    )
    letta.ask("GET", MCP_TOOLS, keep=kept)
    letta.ask("PATCH", refresh, keep="@")
    letta.ask("GET", MCP_TOOLS, keep=kept)
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("PATCH", refresh, keep="@")


def renaming(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"), tool("mul"))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    rule = {"tool_name": "add", "type": "continue_loop"}
    agent = agent_with(letta, "add", "mul", tool_rules=[rule])
    lab.tools = [tool("plus"), tool("mul")]
    letta.ask("PATCH", refresh, keep="@")
    seen = (
        "{tools: tools[].{name: name, id: id}, rules: tool_rules[].[tool_name, type]}"
    )
    letta.ask("GET", agent, keep=seen)
    lab.tools = [tool("add"), tool("mul")]
    letta.ask("PATCH", refresh, keep="@")
    letta.ask("GET", agent, keep=seen)
    letta.ask("GET", MCP_TOOLS, keep=TOOLS)


def emptied(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    agent = agent_with(letta, "add")
    lab.tools = []
    letta.ask("PATCH", refresh, keep="@")
    letta.ask("GET", agent, keep=ATTACHED)
    lab.tools = [tool("add")]
    letta.ask("PATCH", refresh, keep="@")
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("GET", MCP_TOOLS, keep=TOOLS)


def two_servers(letta: Exchange) -> None:
    first = letta.mcp("first", tool("add"))
    second = letta.mcp("second", tool("add", "The other one."))
    letta.ask("POST", "/v1/mcp-servers/", entry("first", first.url))
    letta.ask("GET", MCP_TOOLS, keep=OWNED)
    agent = agent_with(letta, "add")
    made = letta.ask("POST", "/v1/mcp-servers/", entry("second", second.url))
    letta.ask("GET", MCP_TOOLS, keep=OWNED)
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("DELETE", f"/v1/mcp-servers/{made['id']}")
    letta.ask("GET", MCP_TOOLS, keep=OWNED)
    letta.ask("GET", agent, keep=ATTACHED)


def captured_custom(letta: Exchange) -> None:
    code = 'def add(a: int) -> int:\n    """Adds."""\n    return a\n'
    schema = {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}
    custom = {"source_code": code, "json_schema": schema}
    kept = "{name: name, id: id, type: tool_type}"
    made = letta.ask("POST", "/v1/tools/", custom, keep=kept)
    lab = letta.mcp("lab", tool("add", a=INTEGER))
    server = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    letta.ask("GET", f"/v1/tools/{made['id']}", keep=kept)
    letta.ask("DELETE", f"/v1/mcp-servers/{server['id']}")
    letta.ask("GET", f"/v1/tools/{made['id']}")


def captured_built_in(letta: Exchange) -> None:
    named = "/v1/tools/?names=core_memory_append"
    kept = "[].{name: name, id: id, type: tool_type}"
    letta.ask("GET", named, keep=kept)
    agent = agent_with(letta, "core_memory_append")
    lab = letta.mcp("lab", tool("core_memory_append"))
    server = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("DELETE", f"/v1/mcp-servers/{server['id']}")
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("GET", "/v1/tools/", keep=None)
    letta.ask("GET", named, keep=kept)
    letta.ask("GET", agent, keep=ATTACHED)


def beyond_fifty(letta: Exchange) -> None:
    lab = letta.mcp("lab", *(tool(f"many_{number:02}") for number in range(80)))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    listed = f"/v1/mcp-servers/{made['id']}/tools"
    counts = (
        "{deleted: length(deleted), updated: length(updated), added: length(added)}"
    )
    letta.ask("GET", MCP_TOOLS, keep="length(@)")
    letta.ask("GET", listed, keep="length(@)")
    letta.ask("PATCH", refresh, keep=counts)
    letta.ask("PATCH", refresh, keep=counts)
    letta.ask("GET", MCP_TOOLS, keep="length(@)")
    lab.tools = []
    letta.ask("PATCH", refresh, keep=counts)
    letta.ask("GET", MCP_TOOLS, keep="length(@)")


def settings_beyond_fifty(letta: Exchange) -> None:
    lab = letta.mcp("lab", *(tool(f"many_{number:02}") for number in range(80)))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    both = "/v1/tools/?names=many_00&names=many_79"
    kept = "sort_by(@, &name)[].[name, id, default_requires_approval]"
    listed = letta.ask("GET", both, keep=kept)
    for one in sorted(listed, key=lambda one: str(one["name"])):
        path = f"/v1/tools/{one['id']}"
        letta.ask("PATCH", path, {"default_requires_approval": True})
    letta.ask("GET", both, keep=kept)
    letta.ask("PATCH", f"/v1/mcp-servers/{made['id']}/refresh")
    letta.ask("GET", both, keep=kept)


def renamed_server(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    path = f"/v1/mcp-servers/{made['id']}"
    agent = agent_with(letta, "add")
    run = f"{agent}/tools/add/run"
    letta.ask("POST", run, {"args": {}}, keep="{status: status, said: func_return}")
    config = entry("", lab.url)["config"]
    changed = {"server_name": "renamed", "config": config}
    letta.ask("PATCH", path, changed, keep="server_name")
    letta.ask("POST", run, {"args": {}}, keep="status")
    letta.ask("PATCH", f"{path}/refresh", keep=None)
    letta.ask("POST", run, {"args": {}}, keep="status")


SCENARIOS = (
    updating,
    renaming,
    emptied,
    two_servers,
    captured_custom,
    captured_built_in,
    beyond_fifty,
    settings_beyond_fifty,
    renamed_server,
)

"""Contract scenarios for refreshes: updated, deleted, captured and omitted tools."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import tool
from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios.registering import (
    INTEGER,
    MCP_TOOLS,
    OWNED,
    TOOLS,
    build_entry,
)

__all__ = ["SCENARIOS"]

ATTACHED = "sort_by(tools, &name)[].{name: name, id: id, type: tool_type}"


def create_agent_with(letta: Exchange, *names: str, **more: Any) -> str:
    """Create an agent with only these tools and return its path."""
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
    created = letta.request("POST", "/v1/agents/", body, keep=ATTACHED)
    return f"/v1/agents/{created['id']}"


def updating(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add", a=INTEGER))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    agent = create_agent_with(letta, "add")
    lab.tools = [tool("add", "Adds up.", a=INTEGER, b=INTEGER)]
    kept = (
        "[].{id: id, description: description, needs: json_schema.parameters.required}"
    )
    letta.request("GET", MCP_TOOLS, keep=kept)
    letta.request("PATCH", refresh, keep="@")
    letta.request("GET", MCP_TOOLS, keep=kept)
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("PATCH", refresh, keep="@")


def renaming(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"), tool("mul"))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    rule = {"tool_name": "add", "type": "continue_loop"}
    agent = create_agent_with(letta, "add", "mul", tool_rules=[rule])
    lab.tools = [tool("plus"), tool("mul")]
    letta.request("PATCH", refresh, keep="@")
    seen = (
        "{tools: tools[].{name: name, id: id}, rules: tool_rules[].[tool_name, type]}"
    )
    letta.request("GET", agent, keep=seen)
    lab.tools = [tool("add"), tool("mul")]
    letta.request("PATCH", refresh, keep="@")
    letta.request("GET", agent, keep=seen)
    letta.request("GET", MCP_TOOLS, keep=TOOLS)


def emptied(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    agent = create_agent_with(letta, "add")
    lab.tools = []
    letta.request("PATCH", refresh, keep="@")
    letta.request("GET", agent, keep=ATTACHED)
    lab.tools = [tool("add")]
    letta.request("PATCH", refresh, keep="@")
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("GET", MCP_TOOLS, keep=TOOLS)


def two_servers(letta: Exchange) -> None:
    first = letta.mcp("first", tool("add"))
    second = letta.mcp("second", tool("add", "The other one."))
    letta.request("POST", "/v1/mcp-servers/", build_entry("first", first.url))
    letta.request("GET", MCP_TOOLS, keep=OWNED)
    agent = create_agent_with(letta, "add")
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("second", second.url))
    letta.request("GET", MCP_TOOLS, keep=OWNED)
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("DELETE", f"/v1/mcp-servers/{made['id']}")
    letta.request("GET", MCP_TOOLS, keep=OWNED)
    letta.request("GET", agent, keep=ATTACHED)


def captured_custom(letta: Exchange) -> None:
    code = 'def add(a: int) -> int:\n    """Adds."""\n    return a\n'
    schema = {"name": "add", "description": "Adds.", "parameters": {"type": "object"}}
    custom = {"source_code": code, "json_schema": schema}
    kept = "{name: name, id: id, type: tool_type}"
    made = letta.request("POST", "/v1/tools/", custom, keep=kept)
    lab = letta.mcp("lab", tool("add", a=INTEGER))
    server = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", f"/v1/tools/{made['id']}", keep=kept)
    letta.request("DELETE", f"/v1/mcp-servers/{server['id']}")
    letta.request("GET", f"/v1/tools/{made['id']}")


def captured_built_in(letta: Exchange) -> None:
    named = "/v1/tools/?names=core_memory_append"
    kept = "[].{name: name, id: id, type: tool_type}"
    letta.request("GET", named, keep=kept)
    agent = create_agent_with(letta, "core_memory_append")
    lab = letta.mcp("lab", tool("core_memory_append"))
    server = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("DELETE", f"/v1/mcp-servers/{server['id']}")
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("GET", "/v1/tools/", keep=None)
    letta.request("GET", named, keep=kept)
    letta.request("GET", agent, keep=ATTACHED)


def beyond_fifty(letta: Exchange) -> None:
    lab = letta.mcp("lab", *(tool(f"many_{number:02}") for number in range(80)))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    refresh = f"/v1/mcp-servers/{made['id']}/refresh"
    listed = f"/v1/mcp-servers/{made['id']}/tools"
    counts = (
        "{deleted: length(deleted), updated: length(updated), added: length(added)}"
    )
    letta.request("GET", MCP_TOOLS, keep="length(@)")
    letta.request("GET", listed, keep="length(@)")
    letta.request("PATCH", refresh, keep=counts)
    letta.request("PATCH", refresh, keep=counts)
    letta.request("GET", MCP_TOOLS, keep="length(@)")
    lab.tools = []
    letta.request("PATCH", refresh, keep=counts)
    letta.request("GET", MCP_TOOLS, keep="length(@)")


def settings_beyond_fifty(letta: Exchange) -> None:
    lab = letta.mcp("lab", *(tool(f"many_{number:02}") for number in range(80)))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    both = "/v1/tools/?names=many_00&names=many_79"
    kept = "sort_by(@, &name)[].[name, id, default_requires_approval]"
    listed = letta.request("GET", both, keep=kept)
    for listed_tool in sorted(listed, key=lambda listed_tool: str(listed_tool["name"])):
        path = f"/v1/tools/{listed_tool['id']}"
        letta.request("PATCH", path, {"default_requires_approval": True})
    letta.request("GET", both, keep=kept)
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh")
    letta.request("GET", both, keep=kept)


def renamed_server(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    path = f"/v1/mcp-servers/{made['id']}"
    agent = create_agent_with(letta, "add")
    run = f"{agent}/tools/add/run"
    letta.request("POST", run, {"args": {}}, keep="{status: status, said: func_return}")
    config = build_entry("", lab.url)["config"]
    changed = {"server_name": "renamed", "config": config}
    letta.request("PATCH", path, changed, keep="server_name")
    letta.request("POST", run, {"args": {}}, keep="status")
    letta.request("PATCH", f"{path}/refresh", keep=None)
    letta.request("POST", run, {"args": {}}, keep="status")


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

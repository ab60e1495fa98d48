"""What a toolset wants to be in Letta, derived from its specs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast.facts.mcp_definition import mcp_definition
from toolcast.model.model import Toolset, ToolSpec

from .settings import LettaAgent, LettaServer, LettaSettings, bind_letta

__all__ = [
    "DEFAULT_REASON",
    "attached_tools",
    "changes_data",
    "facts_of",
    "has_settings",
    "letta_data",
    "letta_definitions",
    "offered_to_letta",
    "settings_of",
    "excluded_tools",
]

DEFAULT_REASON = "It calls the agent's own loop."


def facts_of(tool: ToolSpec) -> Mapping[str, Any]:
    """The `letta` of a tool; empty when its spec has none."""
    facts: Mapping[str, Any] = tool.extensions.get("letta", {})
    return facts


def has_settings(toolset: Toolset) -> bool:
    """Whether the toolset has a `letta`."""
    return "letta" in toolset.extensions


def settings_of(toolset: Toolset) -> LettaSettings:
    """The toolset's settings; without any, an entry of its name and no agent."""
    if not has_settings(toolset):
        return LettaSettings(LettaServer(toolset.name), ())
    return bind_letta(toolset.extensions["letta"], toolset.name)


def offered_to_letta(toolset: Toolset) -> list[ToolSpec]:
    """The tools that the MCP server shows Letta, in order."""
    tools = list(toolset.tools_in("mcp"))
    if not toolset.clients:
        return tools
    client = toolset.client(settings_of(toolset).server.client or "")
    if client is None:
        return []
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def attached_tools(toolset: Toolset) -> list[ToolSpec]:
    """The tools that the toolset's agents get, by name."""
    attached = [
        tool for tool in toolset.tools_in("letta") if facts_of(tool).get("attached")
    ]
    return sorted(attached, key=lambda tool: tool.name)


def excluded_tools(toolset: Toolset) -> dict[str, str]:
    """Each other tool with the reason, by name."""
    declared = {e.tool: e.reason for e in toolset.exclusions if e.target == "letta"}
    attached = {tool.name for tool in attached_tools(toolset)}
    reasons: dict[str, str] = {}
    for tool in sorted(toolset.tools, key=lambda tool: tool.name):
        if tool.name in attached:
            continue
        facts = facts_of(tool)
        default = DEFAULT_REASON if facts.get("calls_agent_loop") else ""
        reasons[tool.name] = declared.get(tool.name) or facts.get("reason") or default
    return reasons


def changes_data(tool: ToolSpec) -> bool:
    """Whether the spec says that a call changes something."""
    data = tool.data or {}
    hints = tool.annotations or {}
    if data.get("writes") or data.get("destroys") or hints.get("destructiveHint"):
        return True
    return hints.get("readOnlyHint") is False


def letta_data(toolset: Toolset) -> dict[str, Any]:
    """Everything but the tools' own texts, as JSON."""
    settings = settings_of(toolset)
    attached = attached_tools(toolset)
    return {
        "toolset": toolset.name,
        "backend": settings.backend,
        "server": _server(settings.server),
        "agents": [_agent(agent) for agent in settings.agents],
        "attached": [tool.name for tool in attached],
        "exit_tools": _with(attached, "ends_turn"),
        "approval_tools": _with(attached, "requires_approval"),
        "changing_tools": [t.name for t in attached if changes_data(t)],
        "forbidden_tools": {
            tool.name: facts_of(tool).get("reason") or DEFAULT_REASON
            for tool in sorted(toolset.tools, key=lambda tool: tool.name)
            if facts_of(tool).get("calls_agent_loop")
        },
        "former_names": {
            former: tool.name
            for tool in sorted(toolset.tools, key=lambda tool: tool.name)
            for former in tool.renamed_from
        },
    }


def _with(tools: list[ToolSpec], flag: str) -> list[str]:
    return [tool.name for tool in tools if facts_of(tool).get(flag)]


def _server(server: LettaServer) -> dict[str, Any]:
    return {
        "name": server.name,
        "url": server.url,
        "url_env": server.url_env,
        "token_env": server.token_env,
        "client": server.client,
    }


def _agent(agent: LettaAgent) -> dict[str, Any]:
    return {
        "name": agent.name,
        "id": agent.id,
        "id_env": agent.id_env,
        "type": agent.type,
        "expects": sorted(agent.expects),
        "ends_turn": sorted(agent.ends_turn),
        "forbids": dict(sorted(agent.forbids.items())),
    }


def letta_definitions(toolset: Toolset) -> dict[str, Mapping[str, Any]]:
    """What the server shows Letta of each tool, with the examples of the spec."""
    return {
        tool.name: {
            "description": mcp_definition(tool).get("description"),
            "parameters": tool.parameters,
            "examples": [
                {
                    "arguments": example.arguments,
                    **({"result": example.result} if example.has_result else {}),
                    **({} if example.error is None else {"error": example.error}),
                }
                for example in tool.examples
            ],
        }
        for tool in offered_to_letta(toolset)
    }

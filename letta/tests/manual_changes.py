"""Changes that operators or other clients make to an agent, the registry or a server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import Stage

__all__ = [
    "ManualChange",
    "add_rules",
    "combine_changes",
    "attach_tool",
    "capture_tool",
    "configure_entry",
    "delete_tool",
    "delete_entry",
    "detach_tools",
    "remove_rules",
    "stop_mcp_server",
    "change_offered_tools",
    "rename_entry",
    "replace_schema_text",
    "set_tool_fields",
    "replace_loop_rule",
    "attach_waiting_tool",
]

ManualChange = Callable[[Stage], Any]


def add_rules(*rules: dict[str, Any]) -> ManualChange:
    return lambda stage: stage.patch(tool_rules=[*stage.agent()["tool_rules"], *rules])


def remove_rules(*names: str, kind: str = "") -> ManualChange:
    """Return a change that removes the rules of tools, of all kinds or of one."""

    def change(stage: Stage) -> None:
        rules = stage.agent()["tool_rules"]
        removed = [
            r for r in rules if r["tool_name"] in names and kind in ("", r["type"])
        ]
        assert removed
        stage.patch(tool_rules=[r for r in rules if r not in removed])

    return change


def replace_loop_rule(name: str, kind: str) -> ManualChange:
    """Return a change that replaces a tool's `continue_loop` or `exit_loop` rule."""

    def change(stage: Stage) -> None:
        loops = ("continue_loop", "exit_loop")
        for loop_kind in [
            loop_kind for loop_kind in loops if (name, loop_kind) in stage.rules()
        ]:
            remove_rules(name, kind=loop_kind)(stage)
        add_rules({"tool_name": name, "type": kind})(stage)

    return change


def detach_tools(*names: str) -> ManualChange:
    def change(stage: Stage) -> None:
        for name in names:
            path = f"/v1/agents/{stage.agent_id}/tools/detach/"
            stage.request("PATCH", path + stage.find_tool(name)["id"])

    return change


def attach_tool(name: str) -> ManualChange:
    def change(stage: Stage) -> None:
        path = f"/v1/agents/{stage.agent_id}/tools/attach/"
        stage.request("PATCH", path + stage.find_tool(name)["id"])

    return change


def set_tool_fields(name: str, **fields: Any) -> ManualChange:
    """Return a change of fields of a registered tool."""
    return lambda stage: stage.request(
        "PATCH", f"/v1/tools/{stage.find_tool(name)['id']}", fields
    )


def replace_schema_text(name: str, old: str, new: str) -> ManualChange:
    """Return a change of a text in a tool's stored schema."""

    def change(stage: Stage) -> None:
        schema = json.dumps(stage.find_tool(name)["json_schema"])
        assert old in schema
        set_tool_fields(name, json_schema=json.loads(schema.replace(old, new)))(stage)

    return change


def delete_tool(name: str) -> ManualChange:
    return lambda stage: stage.request(
        "DELETE", f"/v1/tools/{stage.find_tool(name)['id']}"
    )


def capture_tool(name: str) -> ManualChange:
    """Return a change that registers a tool of this name from another MCP server."""

    def change(stage: Stage) -> None:
        with changing_mcp(tool(name)) as other:
            stage.create_server_entry("other", url=other.url)

    return change


def _find_entry(stage: Stage) -> Any:
    return next(
        found
        for found in stage.request("GET", "/v1/mcp-servers/")
        if "toy" in found.values()
    )


def configure_entry(**fields: Any) -> ManualChange:
    """Return a change of fields of the MCP server's entry."""

    def change(stage: Stage) -> None:
        entry = _find_entry(stage)
        config = {
            "mcp_server_type": "streamable_http",
            "server_url": entry["server_url"],
            "custom_headers": entry["custom_headers"],
            **fields,
        }
        path = f"/v1/mcp-servers/{entry['id']}"
        stage.request("PATCH", path, {"config": config})

    return change


def rename_entry(stage: Stage) -> None:
    entry = _find_entry(stage)
    config = {"mcp_server_type": "streamable_http", "server_url": entry["server_url"]}
    body = {"server_name": "notes", "config": config}
    stage.request("PATCH", f"/v1/mcp-servers/{entry['id']}", body)


def delete_entry(stage: Stage) -> None:
    stage.request("DELETE", f"/v1/mcp-servers/{_find_entry(stage)['id']}")


def change_offered_tools(**changes: Any) -> ManualChange:
    """Return a change of tools that the MCP server offers; None removes one."""

    def change(stage: Stage) -> None:
        stage.mcp.tools = [
            {**offered, **(changes.get(offered["name"]) or {})}
            for offered in stage.mcp.tools
            if changes.get(offered["name"], offered) is not None
        ]

    return change


def stop_mcp_server(stage: Stage) -> None:
    stage.mcp.is_down = True


def combine_changes(*manual_changes: ManualChange) -> ManualChange:
    def change(stage: Stage) -> None:
        for single_change in manual_changes:
            single_change(stage)

    return change


def attach_waiting_tool(name: str) -> ManualChange:
    """Return a change that attaches a tool which waits for agents, with its rule."""
    return combine_changes(
        attach_tool(name), add_rules({"tool_name": name, "type": "continue_loop"})
    )

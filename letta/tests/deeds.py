"""What somebody does by hand to an agent, the registry or the server, as a test names it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from letta.tests.changing_mcp import changing_mcp, tool
from letta.tests.stage import Stage

__all__ = [
    "Deed",
    "adds",
    "all_of",
    "attaches",
    "captures",
    "configures",
    "deletes",
    "deletes_the_entry",
    "detaches",
    "drops",
    "is_down",
    "offers",
    "renames_the_entry",
    "rewrites",
    "sets",
    "turns",
    "waits",
]

Deed = Callable[[Stage], Any]


def adds(*rules: dict[str, Any]) -> Deed:
    return lambda stage: stage.patch(tool_rules=[*stage.agent()["tool_rules"], *rules])


def drops(*names: str, kind: str = "") -> Deed:
    """The rules of tools go; of one kind, or all."""

    def deed(stage: Stage) -> None:
        rules = stage.agent()["tool_rules"]
        gone = [r for r in rules if r["tool_name"] in names and kind in ("", r["type"])]
        assert gone
        stage.patch(tool_rules=[r for r in rules if r not in gone])

    return deed


def turns(name: str, kind: str) -> Deed:
    """The rule that says whether a tool ends the turn is another one."""

    def deed(stage: Stage) -> None:
        loops = ("continue_loop", "exit_loop")
        for one in [one for one in loops if (name, one) in stage.rules()]:
            drops(name, kind=one)(stage)
        adds({"tool_name": name, "type": kind})(stage)

    return deed


def detaches(*names: str) -> Deed:
    def deed(stage: Stage) -> None:
        for name in names:
            path = f"/v1/agents/{stage.agent_id}/tools/detach/"
            stage.ask("PATCH", path + stage.registered(name)["id"])

    return deed


def attaches(name: str) -> Deed:
    def deed(stage: Stage) -> None:
        path = f"/v1/agents/{stage.agent_id}/tools/attach/"
        stage.ask("PATCH", path + stage.registered(name)["id"])

    return deed


def sets(name: str, **fields: Any) -> Deed:
    """A person edits a tool of the registry."""
    return lambda stage: stage.ask(
        "PATCH", f"/v1/tools/{stage.registered(name)['id']}", fields
    )


def rewrites(name: str, old: str, new: str) -> Deed:
    """A text of the stored schema is another one."""

    def deed(stage: Stage) -> None:
        schema = json.dumps(stage.registered(name)["json_schema"])
        assert old in schema
        sets(name, json_schema=json.loads(schema.replace(old, new)))(stage)

    return deed


def deletes(name: str) -> Deed:
    return lambda stage: stage.ask(
        "DELETE", f"/v1/tools/{stage.registered(name)['id']}"
    )


def captures(name: str) -> Deed:
    """Another MCP server registers a tool of the same name, and so takes it over."""

    def deed(stage: Stage) -> None:
        with changing_mcp(tool(name)) as other:
            stage.new_server("other", url=other.url)

    return deed


def _entry(stage: Stage) -> Any:
    return next(
        one for one in stage.ask("GET", "/v1/mcp-servers/") if "toy" in one.values()
    )


def configures(**fields: Any) -> Deed:
    """Somebody edits the entry of the MCP server."""

    def deed(stage: Stage) -> None:
        there = _entry(stage)
        config = {
            "mcp_server_type": "streamable_http",
            "server_url": there["server_url"],
            "custom_headers": there["custom_headers"],
            **fields,
        }
        path = f"/v1/mcp-servers/{there['id']}"
        stage.ask("PATCH", path, {"config": config})

    return deed


def renames_the_entry(stage: Stage) -> None:
    there = _entry(stage)
    config = {"mcp_server_type": "streamable_http", "server_url": there["server_url"]}
    body = {"server_name": "notes", "config": config}
    stage.ask("PATCH", f"/v1/mcp-servers/{there['id']}", body)


def deletes_the_entry(stage: Stage) -> None:
    stage.ask("DELETE", f"/v1/mcp-servers/{_entry(stage)['id']}")


def offers(**changed: Any) -> Deed:
    """The deployed server shows a tool otherwise, or no longer."""

    def deed(stage: Stage) -> None:
        stage.mcp.tools = [
            {**one, **(changed.get(one["name"]) or {})}
            for one in stage.mcp.tools
            if changed.get(one["name"], one) is not None
        ]

    return deed


def is_down(stage: Stage) -> None:
    stage.mcp.is_down = True


def all_of(*deeds: Deed) -> Deed:
    def deed(stage: Stage) -> None:
        for one in deeds:
            one(stage)

    return deed


def waits(name: str) -> Deed:
    """A tool that waits for agents, with the rule that Letta gives to its own tools."""
    return all_of(attaches(name), adds({"tool_name": name, "type": "continue_loop"}))

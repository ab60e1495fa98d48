"""Says all that the generated packages of a project show and answer, as JSON.

`python record.py TOOLSET...` in the folder of a project, with any runtime: what it printed with
the runtime of the project's own level stands in the project's `recorded.json`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Mapping
from typing import Any

from click.testing import CliRunner

from toolcast_runtime.consent import Answer, Question

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("internal", "manage_note", {"action": "write", "text": "Lunch"}),
    ("internal", "edit_note", {"action": "remove", "number": 1}),
    ("internal", "manage_note", {"action": "remove", "number": 9}),
    ("internal", "manage_note", {"action": "remove", "text": "Lunch"}),
    ("copilot", "manage_note", {"action": "write", "text": "Lunch"}),
    ("copilot", "find_notes", {"word": "printer"}),
    ("copilot", "find_notes", {"word": 3, "colour": "red"}),
    ("copilot", "greet", {"name": "Ada"}),
    ("internal", "book_room", {"start": "2026-03-29T09:00:00Z"}),
    ("internal", "nobody", {}),
]
COMMANDS = [
    ["--help"],
    ["note", "--help"],
    ["note", "write", "--help"],
    ["find", "--help"],
    ["find", "printer"],
    ["note", "write", "--text", "Lunch"],
    ["note", "remove", "--number", "9"],
    ["note", "remove"],
]


def module(toolset: str, name: str) -> Any:
    """A module of a generated package; None where it has none of that name."""
    try:
        return importlib.import_module(f"generated.{toolset}.{name}")
    except ModuleNotFoundError as error:
        assert f"generated.{toolset}.{name}".startswith(str(error.name))
        return None


def yes(question: Question) -> Answer:
    """The answer to every question."""
    return Answer("accept", {str(question.approval): True})


async def lists_and_calls(registry: Any) -> dict[str, Any]:
    """What each client is shown, and what calls answer."""
    found: dict[str, Any] = {}
    for client in registry.REGISTRY.clients:
        catalog = await registry.get_routed_tools_catalog(client)
        found[client] = {
            "mcp": await registry.get_mcp_tools(client),
            "openai": await registry.get_openai_tools(client),
            "always": await registry.get_always_tools(client),
            "catalog": catalog,
            "routed": await registry.route_tools("put up a note", catalog, client),
        }
    async with registry.REGISTRY:
        for client, name, arguments in CALLS:
            if client in registry.REGISTRY.clients:
                answer = await registry.call_tool(name, arguments, client, ask=yes)
                call = f"{client} {name} {json.dumps(arguments)}"
                found[call] = {"result": answer.result, "error": answer.error}
    return found


async def typed_call(greet: Any) -> Any:
    """What the typed call of a tool's module gives."""
    return await greet.call("internal", name="Ada")


def prompts_of(prompts: Any) -> dict[str, Any]:
    """Every text for system prompts."""
    names = ["manage_note", "find_notes", "greet"]
    return {
        str(client): {
            "sections": {
                name: prompts.section(name, client)
                for name in (*prompts.PROMPTS.sections, "attic", "tools")
            },
            "preamble": prompts.preamble(client),
            "guidance": prompts.guidance(names, client),
            "cli_block": prompts.cli_block(client),
        }
        for client in ("internal", "copilot")
    }


def langchain_of(tools: Any) -> list[Any]:
    """The tools as LangChain's, and an answer."""
    shown = [
        [tool.name, tool.description, tool.args_schema]
        for tool in tools.get_langchain_tools("internal")
    ]
    greet = tools.get_langchain_tool("greet", "internal")
    return [*shown, greet.invoke({"name": "Ada"})]


def cli_of(cli: Any) -> dict[str, Any]:
    """What commands print."""
    runner = CliRunner()
    results = {" ".join(words): runner.invoke(cli.main, words) for words in COMMANDS}
    return {words: [done.exit_code, done.output] for words, done in results.items()}


def server_of(mcp_server: Any) -> dict[str, Any]:
    """What an MCP server offers to each client."""
    server = mcp_server.SERVER
    return {
        client: {
            "tools": list(server.names(client)),
            "resources": [one.definition for one in server.resources(client)],
            "prompts": [one.definition for one in server.prompts(client)],
        }
        for client in server.registry.clients
    }


def recorded(toolset: str) -> Mapping[str, Any]:
    """All of a generated package."""
    found: dict[str, Any] = {}
    if registry := module(toolset, "registry"):
        found["registry"] = asyncio.run(lists_and_calls(registry))
    if mcp_server := module(toolset, "mcp_server"):
        found["mcp"] = server_of(mcp_server)
    if prompts := module(toolset, "prompts"):
        found["prompts"] = prompts_of(prompts)
    if skills := module(toolset, "skills"):
        found["skills"] = skills.SKILLS.files()
    if greet := module(toolset, "tools.greet"):
        found["typed"] = asyncio.run(typed_call(greet))
    if tools := module(toolset, "langchain_tools"):
        found["langchain"] = langchain_of(tools)
    if cli := module(toolset, "cli"):
        found["cli"] = cli_of(cli)
    if lists := module(toolset, "provider_lists"):
        form = lists.get_provider_tools_sync("openai-chat", client="internal")
        found["providers"] = form.tools
    return found


if __name__ == "__main__":
    value = {toolset: recorded(toolset) for toolset in sys.argv[1:]}
    json.dump(value, sys.stdout, indent=1, ensure_ascii=False, default=str)
    print()

"""The servers of this repository's toolsets, listed and called with the official SDK's client."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.mcp.servers import ERAS, http_server, meta, stdio_server
from tests.repository import TOOLSETS
from toolcast_runtime import Registry, Tool
from toolcast_runtime.core.definitions.tool import module_name

ROOT = Path(__file__).parents[2]
MODES = ("legacy", "2026-07-28")

# Tools that work with nothing but a folder to keep their data in.
WORKS_ALONE = {
    "kirishima": {"memory", "stickynotes", "manage_prompt", "get_personality"},
    "ren": {"create_notecard", "write_session_log", "get_project_state", "search_t4"},
    "molecule": {"goal_set", "goal_get", "task_add", "task_list", "commit_memory"},
}
# Instead of an example that waits for a minute.
QUICK = {"wait_for_message": {"timeout_secs": 0}}
_PRIVATE = (
    "KIRISHIMA_",
    "MOLECULE_",
    "REN_",
    "LETTA_",
    "GITHUB_",
    "HOME_ASSISTANT_",
    "DISPLAY",
    "XDG_",
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Nothing of the machine's own data and services; state goes below tmp_path."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_PRIVATE)}
    folders = ("HOME", "KIRISHIMA_DATA", "MOLECULE_HOME", "REN_DATA", "XDG_DATA_HOME")
    mine = {name: str(tmp_path / name.lower()) for name in folders}
    # Whatever wants to leave the machine finds nobody there.
    nobody = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": "a/b"}
    return {**kept, **mine, **nobody}


def tools_of(toolset: str) -> dict[str, Tool]:
    """Every tool of a toolset by name, as the registry has it."""
    registry: Registry = importlib.import_module(
        f"generated.{toolset}.registry"
    ).REGISTRY
    return {tool.name: tool for tool in registry.local_tools}


@contextmanager
def _address(
    toolset: str, transport: str, environment: dict[str, str]
) -> Iterator[Any]:
    """What the SDK's client connects to."""
    package = f"generated.{toolset}"
    if transport == "stdio":
        yield StdioServerParameters(
            command=sys.executable,
            args=["-m", f"{package}.mcp_server"],
            cwd=ROOT,
            env=environment,
        )
    else:
        with http_server(ROOT, package, env=environment) as server:
            yield server.url


# Each toolset, way and mode is met, and the ways in both modes by one that needs no
# platform; the rest is left to the slow tests.
QUICK_CASES = {(0, 0, 0), (1, 1, 1)}
CASES = [
    pytest.param(
        toolset, way, mode, marks=[] if (t, w, m) in QUICK_CASES else [pytest.mark.slow]
    )
    for t, toolset in enumerate(TOOLSETS)
    for w, way in enumerate(("stdio", "http"))
    for m, mode in enumerate(MODES)
]


@pytest.mark.parametrize(("toolset", "transport", "mode"), CASES)
async def test_sdk_client_lists_and_calls_every_tool(
    toolset: str, transport: str, mode: str, environment: dict[str, str]
) -> None:
    tools = tools_of(toolset)
    with _address(toolset, transport, environment) as address:
        async with Client(address, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == list(tools)
            for tool in listed:
                assert tool.input_schema == tools[tool.name].parameters
                examples = tools[tool.name].examples
                first = examples[0]["arguments"] if examples else {}
                arguments = QUICK.get(tool.name, first)
                result = await client.call_tool(tool.name, arguments)
                _assert_readable(toolset, tools[tool.name], result)


def _assert_readable(toolset: str, tool: Any, result: CallToolResult) -> None:
    """An answer that a model can go on from, of the shape that the spec declares."""
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        assert tool.name not in WORKS_ALONE.get(toolset, ()), text
        assert text.strip(), tool.name
        assert "Traceback" not in text, tool.name
        assert "incident" not in text, (tool.name, text)
        assert "arguments of" not in text, (tool.name, text)
    else:
        assert (result.structured_content is not None) == (tool.returns is not None)


# The generated tests say so of stdio; this is a process more for each client.
@pytest.mark.slow
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_raw_json_of_the_list_is_that_of_the_definitions(toolset: str) -> None:
    """Keys, their order and the spelling of numbers, over HTTP in both eras."""
    registry: Registry = importlib.import_module(
        f"generated.{toolset}.registry"
    ).REGISTRY
    for client in registry.clients or (None,):
        expected = [definition(toolset, name) for name in registry.names(client)]
        who = [] if client is None else ["--client", client]
        who.append("--local-tools")
        with http_server(ROOT, f"generated.{toolset}", *who) as http:
            for era in ERAS:
                listed = spelled(http.raw(era, "tools/list"))["result"]["tools"]
                assert listed == expected


def definition(toolset: str, name: str) -> Any:
    """The MCP tool of a definition, as it stands on the disk."""
    file = ROOT / "generated" / toolset / "tools" / f"{module_name(name)}.json"
    return dict(spelled(file.read_bytes()))["mcp"]


def spelled(text: bytes) -> Any:
    """A JSON value with the order of its keys and its numbers as they are written."""
    return json.loads(text, object_pairs_hook=Pairs, parse_int=repr, parse_float=repr)


class Pairs(list[tuple[str, Any]]):
    """An object as its pairs, in their order."""

    def __getitem__(self, key: Any) -> Any:
        return dict(self)[key]


def test_server_introduces_itself() -> None:
    """`server/discover` and `initialize` say the same about the server."""
    with stdio_server(ROOT, "generated.kirishima") as modern:
        found = modern.request("server/discover", {"_meta": meta()})["result"]
        stamp = found["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (stamp["name"], stamp["title"]) == ("kirishima", "Kirishima")
    assert found["instructions"].startswith("The tools of a personal assistant")
    assert sorted(found["capabilities"]) == [
        "extensions",
        "logging",
        "resources",
        "tools",
    ]

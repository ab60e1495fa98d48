"""Servers of this repository's toolsets: lists and calls with the official SDK's client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult

from tests.mcp.servers import ERAS, http_server, meta, stdio_server
from tests.repository import TOOLSETS
from toolcast_runtime import Registry
from toolcast_runtime.core.definitions.tool import module_name

ROOT = Path(__file__).parents[2]

# Tools that need only a data folder.
TOOLS_WITHOUT_SERVICES = {
    "kirishima": {"memory", "stickynotes", "manage_prompt", "get_personality"},
    "ren": {"create_notecard", "write_session_log", "get_project_state", "search_t4"},
    "molecule": {"goal_set", "goal_get", "task_add", "task_list", "commit_memory"},
}
# The spec's example waits for a minute.
FAST_ARGUMENTS = {"wait_for_message": {"timeout_secs": 0}}
_REMOVED_PREFIXES = ("KIRISHIMA_", "MOLECULE_", "REN_", "LETTA_", "GITHUB_")
_REMOVED_PREFIXES += ("HOME_ASSISTANT_", "DISPLAY", "XDG_")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return variables without the machine's data and services; data is in `tmp_path`."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(_REMOVED_PREFIXES)}
    names = ("HOME", "KIRISHIMA_DATA", "MOLECULE_HOME", "REN_DATA", "XDG_DATA_HOME")
    folders = {name: str(tmp_path / name.lower()) for name in names}
    # No service listens on this port, so no request leaves the machine.
    services = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": "a/b"}
    return {**env, **folders, **services}


def get_registry(toolset: str) -> Registry:
    registry: Registry = import_module(f"generated.{toolset}.registry").REGISTRY
    return registry


@contextmanager
def _server_address(
    toolset: str, transport: str, environment: dict[str, str]
) -> Iterator[Any]:
    """Start a server if needed and yield the address for the SDK's client."""
    package = f"generated.{toolset}"
    if transport == "stdio":
        args = ["-m", f"{package}.mcp_server"]
        yield StdioServerParameters(
            command=sys.executable, args=args, cwd=ROOT, env=environment
        )
    else:
        with http_server(ROOT, package, env=environment) as server:
            yield server.url


# Each toolset has one server over each transport; the cases after the first two are slow.
CASES = [
    pytest.param(toolset, *options, marks=[] if number < 2 else [pytest.mark.slow])
    for number, (toolset, options) in enumerate(
        (toolset, options)
        for toolset in TOOLSETS
        for options in (("stdio", "legacy"), ("http", "2026-07-28"))
    )
]


@pytest.mark.parametrize(("toolset", "transport", "mode"), CASES)
async def test_mcp_sdk_client_lists_and_calls_every_tool_on_the_repositorys_servers(
    toolset: str, transport: str, mode: str, environment: dict[str, str]
) -> None:
    tools = {tool.name: tool for tool in get_registry(toolset).local_tools}
    with _server_address(toolset, transport, environment) as address:
        async with Client(address, mode=mode) as client:
            listed_tools = (await client.list_tools()).tools
            assert [tool.name for tool in listed_tools] == list(tools)
            for tool in listed_tools:
                assert tool.input_schema == tools[tool.name].parameters
                examples = tools[tool.name].examples
                first = examples[0]["arguments"] if examples else {}
                arguments = FAST_ARGUMENTS.get(tool.name, first)
                result = await client.call_tool(tool.name, arguments)
                _assert_readable(toolset, tools[tool.name], result)


def _assert_readable(toolset: str, tool: Any, result: CallToolResult) -> None:
    """Assert that a result is readable and has structured content if it is declared.

    Only tools that need a service may fail, with an error message for a model.
    """
    text = "".join(getattr(block, "text", "") for block in result.content)
    if result.is_error:
        assert tool.name not in TOOLS_WITHOUT_SERVICES.get(toolset, ()), text
        assert text.strip(), tool.name
        assert "Traceback" not in text, tool.name
        assert "incident" not in text, (tool.name, text)
        assert "arguments of" not in text, (tool.name, text)
    else:
        assert (result.structured_content is not None) == (tool.returns is not None)


# The generated tests compare the list over stdio; this test starts a server for each client.
@pytest.mark.slow
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_tools_list_over_http_equals_json_in_definition_files(toolset: str) -> None:
    """Keys, their order and number spellings are equal in both protocol versions."""
    registry = get_registry(toolset)
    for client in registry.clients or (None,):
        expected = [read_definition(toolset, name) for name in registry.names(client)]
        options = [] if client is None else ["--client", client]
        options.append("--local-tools")
        with http_server(ROOT, f"generated.{toolset}", *options) as http:
            for era in ERAS:
                tools = parse_exactly(http.raw(era, "tools/list"))["result"]["tools"]
                assert tools == expected


def read_definition(toolset: str, name: str) -> Any:
    """Read the MCP definition of a tool from its generated file."""
    file = ROOT / "generated" / toolset / "tools" / f"{module_name(name)}.json"
    return dict(parse_exactly(file.read_bytes()))["mcp"]


def parse_exactly(text: bytes) -> Any:
    """Parse JSON with the order of keys and the spelling of numbers."""
    return json.loads(text, object_pairs_hook=Pairs, parse_int=repr, parse_float=repr)


class Pairs(list[tuple[str, Any]]):
    """JSON object as a list of its pairs in order."""

    def __getitem__(self, key: Any) -> Any:
        return dict(self)[key]


def test_server_discover_returns_server_info_instructions_and_capabilities() -> None:
    with stdio_server(ROOT, "generated.kirishima") as modern:
        result = modern.request("server/discover", {"_meta": meta()})["result"]
        info = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (info["name"], info["title"]) == ("kirishima", "Kirishima")
    assert result["instructions"].startswith("Tools of a personal assistant")
    capabilities = ["extensions", "logging", "resources", "tools"]
    assert sorted(result["capabilities"]) == capabilities

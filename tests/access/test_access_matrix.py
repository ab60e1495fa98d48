"""Every path to a tool, for every client, against one table.

The own tools are kirishima's, the others those of a real MCP server that its toolset names.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from generated._runtime.access import UnknownClientError
from generated._runtime.registry import UnknownToolError
from generated.kirishima import cli, langchain_tools, prompts, registry
from generated.kirishima.mcp_server import SERVER
from tests.http.serving import ROOT, Served, served

ROWS = [
    line.split()
    for line in (Path(__file__).parent / "matrix.txt").read_text().splitlines()
    if not line.startswith("#")
]
CLIENTS = ROWS[0][1:]
MATRIX = {
    (c, row[0]): cell
    for row in ROWS[1:]
    for c, cell in zip(CLIENTS, row[1:], strict=True)
}
TOOLS = [row[0] for row in ROWS[1:]]
OWN = list(registry.MODULES)
TOKENS = {f"KIRISHIMA_TOKEN_{c.upper()}": f"{c}-token-a81" for c in CLIENTS}
ADMIN = "admin-token-c7f"

cells = pytest.mark.parametrize(("client", "tool"), MATRIX)
own_cells = pytest.mark.parametrize(
    ("client", "tool"), [c for c in MATRIX if c[1] in OWN]
)
eras = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
pytestmark = pytest.mark.timeout(180)


def may(client: str, tool: str) -> bool:
    return MATRIX[client, tool] != "-"


@pytest.fixture(scope="module", autouse=True)
def personal() -> Iterator[str]:
    """The external server, and the variable that leads to it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    script = str(ROOT / "tests/external/servers/personal.py")
    process = subprocess.Popen(
        [sys.executable, script, "--http", str(port)], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    before = os.environ.get("KIRISHIMA_PERSONAL_MCP_URL")
    os.environ["KIRISHIMA_PERSONAL_MCP_URL"] = f"http://127.0.0.1:{port}/mcp"
    yield os.environ["KIRISHIMA_PERSONAL_MCP_URL"]
    asyncio.run(registry.REGISTRY.close())
    process.kill()
    process.wait()
    del os.environ["KIRISHIMA_PERSONAL_MCP_URL"]
    if before is not None:
        os.environ["KIRISHIMA_PERSONAL_MCP_URL"] = before


@pytest.fixture(scope="module")
def server(personal: str) -> Iterator[Served]:
    environment = {**TOKENS, "KIRISHIMA_ADMIN_TOKEN": ADMIN}
    with served(env={**environment, "KIRISHIMA_PERSONAL_MCP_URL": personal}) as running:
        yield running


def test_the_table_has_every_tool_and_client() -> None:
    assert list(registry.CLIENTS) == CLIENTS
    assert set(OWN) <= set(TOOLS)


# -- lists


def listed(tools: list[Any]) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in tools}


@cells
def test_lists(client: str, tool: str) -> None:
    for names in (
        listed(registry.get_mcp_tools_sync(client)),
        listed(registry.get_openai_tools_sync(client)),
    ):
        assert (tool in names) == may(client, tool)


@cells
def test_always_set(client: str, tool: str) -> None:
    names = listed(registry.get_always_tools_sync(client))
    assert (tool in names) == (MATRIX[client, tool] == "always")


@cells
def test_catalogue(client: str, tool: str) -> None:
    names = registry.get_routed_tools_catalog_sync(client)
    assert (tool in names) == (MATRIX[client, tool] == "routed")


@own_cells
def test_lists_of_own_tools(client: str, tool: str) -> None:
    for names in (
        registry.REGISTRY.names(client),
        {one.name for one in registry.REGISTRY.tools(client)},
        SERVER.names(client),
        listed(SERVER.list_tools(client)),
        {one.name for one in langchain_tools.get_langchain_tools(client)},
    ):
        assert (tool in names) == may(client, tool)


# -- look-up by name


@cells
def test_look_up_by_names(client: str, tool: str) -> None:
    if may(client, tool):
        (found,) = registry.get_openai_tools_by_names_sync([tool], client)
        assert found["function"]["name"] == tool
    else:
        with pytest.raises(UnknownToolError, match=f"^unknown tool `{tool}`$"):
            registry.get_openai_tools_by_names_sync([tool], client)


@own_cells
def test_look_up_of_own_tools(client: str, tool: str) -> None:
    for find in (
        registry.get_tool,
        registry.REGISTRY.listed_tool,
        langchain_tools.get_langchain_tool,
    ):
        if may(client, tool):
            assert find(tool, client).name == tool
        else:
            with pytest.raises(LookupError, match=f"unknown tool `{tool}`"):
                find(tool, client)


# -- calls, with arguments that no tool takes


@cells
def test_call(client: str, tool: str) -> None:
    response = registry.call_tool_sync(tool, {"action": "nonsense"}, client)
    assert not response.success
    assert (response.error == f"unknown tool `{tool}`") == (not may(client, tool))


@own_cells
def test_command_line(client: str, tool: str) -> None:
    from click.testing import CliRunner

    shown = CliRunner().invoke(cli.main, ["--client", client, "--help"])
    keyword = cli.KEYWORDS[tool] or "no keyword"
    found = re.search(rf"^  {keyword}  ", shown.output, re.MULTILINE)
    assert (found is not None) == may(client, tool)
    ran = CliRunner().invoke(cli.main, ["--client", client, keyword, "--nonsense"])
    assert (f"No such command '{keyword}'" in ran.output) == (not may(client, tool))


# -- prompts


@own_cells
def test_prompt(client: str, tool: str) -> None:
    summary = registry.get_tool(tool, "internal").summary
    sections = "".join(prompts.section(name, client) for name in prompts.SECTIONS)
    bullet = f"- **{tool}**: {summary}\n"
    assert (bullet in prompts.preamble(client)) == may(client, tool)
    assert (bullet in sections) == may(client, tool)
    assert (f"### {tool}\n" in sections) == may(client, tool)
    for text in (prompts.preamble(client), sections):
        if not may(client, tool):
            assert summary not in text
            assert f"**{tool}**" not in text


def test_prompts_of_a_client_with_every_tool_are_the_files() -> None:
    folder = ROOT / "generated/kirishima/prompts"
    for name, file in prompts.SECTIONS.items():
        assert prompts.section(name, "internal") == (folder / file).read_text()
    assert prompts.preamble("internal") == (folder / "preamble.md").read_text()


def test_prompts_of_others_are_like_the_files_without_what_they_may_not_have() -> None:
    assert prompts.preamble("copilot") == (
        "## What you can do\n\nThese tools are yours to call at any time. Use them before"
        " you answer from habit.\n\n**Identity**\n- **get_personality**: Return the style"
        " guide for the model that is answering.\n\n**Workspace**\n- **github_issue**:"
        " Create, list, view, comment on and close GitHub issues.\n"
    )
    assert prompts.section("home", "copilot") == ""
    whole = prompts.section("identity", "internal")
    bullet = re.escape("- **manage_prompt**: ") + r".*\n"
    cut = re.sub(bullet, "", whole)
    cut = re.sub(
        r"### manage_prompt\n.*?\n\n(?=Changes to your own)", "", cut, flags=re.DOTALL
    )
    assert prompts.section("identity", "copilot") == cut


# -- HTTP


def token(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


def path(client: str) -> str:
    return "/mcp/" if client == "internal" else f"/mcp/{client}/"


@eras
@cells
def test_http_list(server: Served, client: str, tool: str, modern: bool) -> None:
    answer = server.ask(path(client), "tools/list", token=token(client), modern=modern)
    assert (tool in listed(answer.message["result"]["tools"])) == may(client, tool)


@eras
@cells
def test_http_call(server: Served, client: str, tool: str, modern: bool) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    answer = server.ask(
        path(client), "tools/call", call, token=token(client), modern=modern
    ).message
    if may(client, tool):
        assert answer["result"]["isError"] is True
        assert "nknown tool" not in str(answer)
    else:
        error = {"code": -32602, "message": f"Unknown tool: {tool}"}
        assert answer["error"] == error


@cells
def test_http_without_the_token_of_the_client(
    server: Served, client: str, tool: str
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    others = [None, ADMIN, *(token(other) for other in CLIENTS if other != client)]
    for given in others:
        for method, params in (("tools/list", {}), ("tools/call", call)):
            answer = server.ask(path(client), method, params, token=given)
            assert answer.status == 401
            assert tool not in answer.body.decode()


@cells
def test_http_list_for_administrators(server: Served, client: str, tool: str) -> None:
    right = {"Authorization": f"Bearer {ADMIN}"}
    answer = server.send("/api/admin/list-mcp-tools", b"", right, "GET")
    shown = json.loads(answer.body)["clients"][client]["tools"]
    assert (tool in listed(shown)) == may(client, tool)


# -- nobody


@pytest.mark.parametrize("client", [None, "", "nobody", "Internal", "internal "])
@pytest.mark.parametrize("tool", TOOLS)
def test_nobody_gets_anything(client: Any, tool: str) -> None:
    for ask in (
        registry.get_mcp_tools_sync,
        registry.get_openai_tools_sync,
        registry.get_always_tools_sync,
        registry.get_routed_tools_catalog_sync,
        registry.REGISTRY.names,
        registry.REGISTRY.tools,
        langchain_tools.get_langchain_tools,
        prompts.preamble,
    ):
        with pytest.raises(UnknownClientError):
            ask(client)
    for find in (
        registry.get_tool,
        registry.REGISTRY.listed_tool,
        langchain_tools.get_langchain_tool,
    ):
        with pytest.raises(LookupError):
            find(tool, client)
    with pytest.raises(UnknownClientError):
        registry.get_openai_tools_by_names_sync([tool], client)
    for name in prompts.SECTIONS:
        with pytest.raises(UnknownClientError):
            prompts.section(name, client)
    response = registry.call_tool_sync(tool, {}, client)
    assert response.error is not None and "client" in response.error

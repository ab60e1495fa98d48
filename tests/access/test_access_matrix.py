"""Every path to a tool, for every client, against one table.

The local tools are kirishima's, the others those of a real MCP server that its toolset names.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from generated.kirishima import cli, langchain_tools, prompts, registry
from generated.kirishima.mcp_server import SERVER
from tests.access.matrix import (
    CLIENTS,
    LOCAL,
    MATRIX,
    TOOLS,
    cells,
    listed,
    local_cells,
    may,
)
from tests.http.serving import ROOT
from toolcast_runtime import UnknownToolError
from toolcast_runtime.core.access import UnknownClientError

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("personal")]


def test_the_table_has_every_tool_and_client() -> None:
    assert list(registry.CLIENTS) == CLIENTS
    assert set(LOCAL) <= set(TOOLS)


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
def test_catalog(client: str, tool: str) -> None:
    names = registry.get_routed_tools_catalog_sync(client)
    assert (tool in names) == (MATRIX[client, tool] == "routed")


@local_cells
def test_lists_of_local_tools(client: str, tool: str) -> None:
    for names in (
        registry.REGISTRY.names(client),
        {one.name for one in registry.REGISTRY.tools(client)},
        SERVER.names(client),
        listed(SERVER.list_tools(client)),
        {one.name for one in langchain_tools.get_langchain_tools(client)},
    ):
        assert (tool in names) == may(client, tool)


@cells
def test_look_up_by_names(client: str, tool: str) -> None:
    if may(client, tool):
        (found,) = registry.get_openai_tools_by_names_sync([tool], client)
        assert found["function"]["name"] == tool
    else:
        with pytest.raises(UnknownToolError, match=f"^unknown tool `{tool}`$"):
            registry.get_openai_tools_by_names_sync([tool], client)


@local_cells
def test_look_up_of_local_tools(client: str, tool: str) -> None:
    for find in (
        registry.get_tool,
        langchain_tools.get_langchain_tool,
    ):
        if may(client, tool):
            assert find(tool, client).name == tool
        else:
            with pytest.raises(LookupError, match=f"unknown tool `{tool}`"):
                find(tool, client)


@cells
def test_call(client: str, tool: str) -> None:
    response = registry.call_tool_sync(tool, {"action": "nonsense"}, client)
    assert not response.success
    assert (response.error == f"unknown tool `{tool}`") == (not may(client, tool))


@local_cells
def test_command_line(client: str, tool: str) -> None:
    from click.testing import CliRunner

    shown = CliRunner().invoke(cli.main, ["--client", client, "--help"])
    decision = registry.get_tool(tool, "internal").cli or {}
    keyword = decision["command"] or "no keyword"
    found = re.search(rf"^  {keyword}  ", shown.output, re.MULTILINE)
    assert (found is not None) == may(client, tool)
    ran = CliRunner().invoke(cli.main, ["--client", client, keyword, "--nonsense"])
    assert (f"No such command '{keyword}'" in ran.output) == (not may(client, tool))


@local_cells
def test_prompt(client: str, tool: str) -> None:
    summary = registry.get_tool(tool, "internal").summary
    sections = "".join(
        prompts.section(name, client) for name in prompts.PROMPTS.sections
    )
    bullet = f"- **{tool}**: {summary}\n"
    assert (bullet in prompts.preamble(client)) == may(client, tool)
    assert (bullet in sections) == may(client, tool)
    assert (f"### {tool}\n" in sections) == may(client, tool)
    for text in (prompts.preamble(client), sections):
        if not may(client, tool):
            assert summary not in text
            assert f"**{tool}**" not in text


def test_prompts_of_a_client_with_every_tool_are_the_files() -> None:
    def text(file: str) -> str:
        path = ROOT / "generated/kirishima/prompts" / file
        return path.read_text().partition("\n")[2]

    for name in prompts.PROMPTS.sections:
        assert prompts.section(name, "internal") == text(f"section_{name}.md")
    assert prompts.preamble("internal") == text("preamble.md")
    assert prompts.cli_block() == prompts.cli_block("internal") == text("cli.md")


@local_cells
def test_cli_block(client: str, tool: str) -> None:
    decision = registry.get_tool(tool, "internal").cli or {}
    block = prompts.cli_block(client)
    for line in decision["lines"]:
        # Up to the first placeholder: some of these are escaped, as HTML would swallow text.
        words = line["line"].partition(" <")[0]
        assert (f".cli {words}" in block) == may(client, tool)


def test_prompts_of_others_are_like_the_files_without_what_they_may_not_have() -> None:
    assert prompts.preamble("copilot") == (
        "## What you can do\n\nThese tools are yours to call at any time. Use them before"
        " you answer from habit.\n\n**Identity**\n- **get_personality**: Return the style"
        " guide, with a section for each model.\n\n**Workspace**\n- **github_issue**:"
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
        langchain_tools.get_langchain_tool,
    ):
        with pytest.raises(LookupError):
            find(tool, client)
    with pytest.raises(UnknownClientError):
        registry.get_openai_tools_by_names_sync([tool], client)
    for name in prompts.PROMPTS.sections:
        with pytest.raises(UnknownClientError):
            prompts.section(name, client)
    response = registry.call_tool_sync(tool, {}, client)
    assert response.error is not None and "client" in response.error

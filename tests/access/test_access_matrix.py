"""Access of each client of toolset.yaml to each tool through every Python interface.

The local tools are kirishima's; the others are those of an external MCP server that its toolset uses.
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
    allows,
    cells,
    get_names,
    local_cells,
)
from tests.http.serving import ROOT
from toolcast_runtime import UnknownToolError
from toolcast_runtime.core.access import UnknownClientError

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("server_url")]


def test_expected_access_table_has_every_configured_client_and_every_local_tool() -> (
    None
):
    """The table of expected access, which the other access tests compare with, is complete."""
    assert list(registry.CLIENTS) == CLIENTS
    assert set(LOCAL) <= set(TOOLS)


@cells
def test_registry_mcp_and_openai_lists_have_exactly_the_tools_allowed_to_the_client(
    client: str, tool: str
) -> None:
    for names in (
        get_names(registry.get_mcp_tools_sync(client)),
        get_names(registry.get_openai_tools_sync(client)),
    ):
        assert (tool in names) == allows(client, tool)


@cells
def test_get_always_tools_returns_exactly_the_clients_always_tools(
    client: str, tool: str
) -> None:
    """Always tools are in each request to a model; routed tools are selected per request."""
    names = get_names(registry.get_always_tools_sync(client))
    assert (tool in names) == (MATRIX[client, tool] == "always")


@cells
def test_routed_tools_catalog_has_exactly_the_clients_routed_tools(
    client: str, tool: str
) -> None:
    """Routed tools are those that a router selects per request; the others are always sent."""
    names = registry.get_routed_tools_catalog_sync(client)
    assert (tool in names) == (MATRIX[client, tool] == "routed")


@local_cells
def test_registry_server_and_langchain_lists_have_exactly_the_allowed_local_tools(
    client: str, tool: str
) -> None:
    """Local tools have handlers; tools of external MCP servers are tested separately."""
    for names in (
        registry.REGISTRY.names(client),
        {item.name for item in registry.REGISTRY.tools(client)},
        SERVER.names(client),
        get_names(SERVER.list_tools(client)),
        {item.name for item in langchain_tools.get_langchain_tools(client)},
    ):
        assert (tool in names) == allows(client, tool)


@cells
def test_get_openai_tools_by_names_raises_unknown_tool_error_for_denied_tools(
    client: str, tool: str
) -> None:
    if allows(client, tool):
        (definition,) = registry.get_openai_tools_by_names_sync([tool], client)
        assert definition["function"]["name"] == tool
    else:
        with pytest.raises(UnknownToolError, match=f"^unknown tool `{tool}`$"):
            registry.get_openai_tools_by_names_sync([tool], client)


@local_cells
def test_get_tool_and_get_langchain_tool_raise_lookup_error_for_denied_tools(
    client: str, tool: str
) -> None:
    for get in (registry.get_tool, langchain_tools.get_langchain_tool):
        if allows(client, tool):
            assert get(tool, client).name == tool
        else:
            with pytest.raises(LookupError, match=f"unknown tool `{tool}`"):
                get(tool, client)


@cells
def test_call_tool_returns_unknown_tool_error_for_a_tool_denied_to_the_client(
    client: str, tool: str
) -> None:
    response = registry.call_tool_sync(tool, {"action": "nonsense"}, client)
    assert not response.success
    assert (response.error == f"unknown tool `{tool}`") == (not allows(client, tool))


@local_cells
def test_cli_client_option_limits_commands_to_tools_allowed_to_the_client(
    client: str, tool: str
) -> None:
    from click.testing import CliRunner

    page = CliRunner().invoke(cli.main, ["--client", client, "--help"])
    decision = registry.get_tool(tool, "internal").cli or {}
    keyword = decision["command"] or "no keyword"
    match = re.search(rf"^  {keyword}  ", page.output, re.MULTILINE)
    assert (match is not None) == allows(client, tool)
    result = CliRunner().invoke(cli.main, ["--client", client, keyword, "--nonsense"])
    assert (f"No such command '{keyword}'" in result.output) == (
        not allows(client, tool)
    )


@local_cells
def test_prompt_preamble_and_sections_mention_exactly_the_clients_allowed_tools(
    client: str, tool: str
) -> None:
    summary = registry.get_tool(tool, "internal").summary
    sections = "".join(
        prompts.section(name, client) for name in prompts.PROMPTS.sections
    )
    bullet = f"- **{tool}**: {summary}\n"
    assert (bullet in prompts.preamble(client)) == allows(client, tool)
    assert (bullet in sections) == allows(client, tool)
    assert (f"### {tool}\n" in sections) == allows(client, tool)
    for text in (prompts.preamble(client), sections):
        if not allows(client, tool):
            assert summary not in text
            assert f"**{tool}**" not in text


def test_prompt_texts_for_an_unrestricted_client_equal_the_generated_markdown() -> None:
    def read_prompt(file: str) -> str:
        path = ROOT / "generated/kirishima/prompts" / file
        return path.read_text().partition("\n")[2]

    for name in prompts.PROMPTS.sections:
        assert prompts.section(name, "internal") == read_prompt(f"section_{name}.md")
    assert prompts.preamble("internal") == read_prompt("preamble.md")
    assert prompts.cli_block() == prompts.cli_block("internal") == read_prompt("cli.md")


@local_cells
def test_prompt_text_on_cli_has_only_the_clients_allowed_tool_commands(
    client: str, tool: str
) -> None:
    decision = registry.get_tool(tool, "internal").cli or {}
    block = prompts.cli_block(client)
    for line in decision["lines"]:
        # Compare up to the first placeholder, since placeholders can be escaped as HTML.
        command = line["line"].partition(" <")[0]
        assert (f".cli {command}" in block) == allows(client, tool)


def test_prompt_preamble_and_sections_for_a_restricted_client_omit_denied_tools() -> (
    None
):
    assert prompts.preamble("copilot") == (
        "## What you can do\n\nYou can call these tools at any time. Prefer them to answers"
        " from your own knowledge.\n\n**Identity**\n- **get_personality**: Return the style"
        " guide, with a section for each model.\n\n**Workspace**\n- **github_issue**:"
        " Create, list, view, comment on and close GitHub issues.\n"
    )
    assert prompts.section("home", "copilot") == ""
    section = prompts.section("identity", "internal")
    bullet = re.escape("- **manage_prompt**: ") + r".*\n"
    cut = re.sub(bullet, "", section)
    cut = re.sub(
        r"### manage_prompt\n.*?\n\n(?=Changes to your prompt)",
        "",
        cut,
        flags=re.DOTALL,
    )
    assert prompts.section("identity", "copilot") == cut


@pytest.mark.parametrize("client", [None, "", "nobody", "Internal", "internal "])
@pytest.mark.parametrize("tool", TOOLS)
def test_every_registry_and_prompt_function_rejects_an_unknown_client_name(
    client: Any, tool: str
) -> None:
    for list_tools in (
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
            list_tools(client)
    for get in (registry.get_tool, langchain_tools.get_langchain_tool):
        with pytest.raises(LookupError):
            get(tool, client)
    with pytest.raises(UnknownClientError):
        registry.get_openai_tools_by_names_sync([tool], client)
    for name in prompts.PROMPTS.sections:
        with pytest.raises(UnknownClientError):
            prompts.section(name, client)
    response = registry.call_tool_sync(tool, {}, client)
    assert response.error is not None and "client" in response.error

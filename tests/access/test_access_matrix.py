"""Access of each client of toolset.yaml to each tool through every Python interface.

The local tools are kirishima's; the others are those of an external MCP server that its toolset uses.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from generated.kirishima import cli, langchain_tools, prompts, registry
from generated.kirishima.mcp_server import SERVER
from tests.access.matrix import CLIENTS, LOCAL, TOOLS, allows, get_names, list_allowed
from tests.http.serving import ROOT
from toolcast_runtime import UnknownToolError
from toolcast_runtime.core.access import UnknownClientError

pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("server_url")]


each_client = pytest.mark.parametrize("client", CLIENTS)


def test_access_table_has_every_configured_client_and_every_local_tool() -> None:
    """The table of expected access, which the other access tests compare with, is complete."""
    assert list(registry.CLIENTS) == CLIENTS
    assert set(LOCAL) <= set(TOOLS)


@each_client
def test_each_tool_list_has_exactly_the_tools_allowed_to_the_client(
    client: str,
) -> None:
    """Always tools are in each request to a model; a router selects routed tools."""
    allowed = list_allowed(client)
    assert get_names(registry.get_mcp_tools_sync(client)) == allowed
    assert get_names(registry.get_openai_tools_sync(client)) == allowed
    always = get_names(registry.get_always_tools_sync(client))
    assert always == list_allowed(client, "always")
    routed = registry.get_routed_tools_catalog_sync(client)
    assert {*routed} == list_allowed(client, "routed")
    # Local tools have handlers; the others are those of external MCP servers.
    for names in (
        registry.REGISTRY.names(client),
        {item.name for item in registry.REGISTRY.tools(client)},
        SERVER.names(client),
        get_names(SERVER.list_tools(client)),
        {item.name for item in langchain_tools.get_langchain_tools(client)},
    ):
        assert {*names} == allowed & {*LOCAL}


@each_client
def test_denied_tool_is_unknown_to_every_function_with_a_tool_name(client: str) -> None:
    for tool in TOOLS:
        response = registry.call_tool_sync(tool, {"action": "nonsense"}, client)
        assert not response.success
        is_unknown = response.error == f"unknown tool `{tool}`"
        assert is_unknown == (not allows(client, tool))
        if allows(client, tool):
            (definition,) = registry.get_openai_tools_by_names_sync([tool], client)
            assert definition["function"]["name"] == tool
        else:
            with pytest.raises(UnknownToolError, match=f"^unknown tool `{tool}`$"):
                registry.get_openai_tools_by_names_sync([tool], client)
    for tool in LOCAL:
        for get in (registry.get_tool, langchain_tools.get_langchain_tool):
            if allows(client, tool):
                assert get(tool, client).name == tool
            else:
                with pytest.raises(LookupError, match=f"unknown tool `{tool}`"):
                    get(tool, client)


@each_client
def test_cli_client_option_limits_commands_to_allowed_tools(client: str) -> None:
    from click.testing import CliRunner

    page = CliRunner().invoke(cli.main, ["--client", client, "--help"])
    for tool in LOCAL:
        decision = registry.get_tool(tool, "internal").cli or {}
        keyword = decision["command"] or "no keyword"
        match = re.search(rf"^  {keyword}  ", page.output, re.MULTILINE)
        assert (match is not None) == allows(client, tool)
        arguments = ["--client", client, keyword, "--nonsense"]
        output = CliRunner().invoke(cli.main, arguments).output
        is_unknown = f"No such command '{keyword}'" in output
        assert is_unknown == (not allows(client, tool))


@each_client
def test_prompt_texts_mention_exactly_the_clients_allowed_tools(client: str) -> None:
    names = prompts.PROMPTS.sections
    sections = "".join(prompts.section(name, client) for name in names)
    preamble, block = prompts.preamble(client), prompts.cli_block(client)
    for tool in LOCAL:
        definition = registry.get_tool(tool, "internal")
        bullet = f"- **{tool}**: {definition.summary}\n"
        for text, part in ((preamble, bullet), (sections, bullet)):
            assert (part in text) == allows(client, tool)
            if not allows(client, tool):
                assert definition.summary not in text and f"**{tool}**" not in text
        assert (f"### {tool}\n" in sections) == allows(client, tool)
        for line in (definition.cli or {})["lines"]:
            # Compare up to the first placeholder, since placeholders can be escaped as HTML.
            command = line["line"].partition(" <")[0]
            assert (f".cli {command}" in block) == allows(client, tool)


def test_prompt_texts_for_an_unrestricted_client_equal_the_generated_markdown() -> None:
    def read_prompt(file: str) -> str:
        path = ROOT / "generated/kirishima/prompts" / file
        return path.read_text().partition("\n")[2]

    for name in prompts.PROMPTS.sections:
        assert prompts.section(name, "internal") == read_prompt(f"section_{name}.md")
    assert prompts.preamble("internal") == read_prompt("preamble.md")
    assert prompts.cli_block() == prompts.cli_block("internal") == read_prompt("cli.md")


def test_prompt_texts_of_a_restricted_client_omit_denied_tools() -> None:
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
    heading = r"### manage_prompt\n.*?\n\n(?=Changes to your prompt)"
    cut = re.sub(heading, "", cut, flags=re.DOTALL)
    assert prompts.section("identity", "copilot") == cut


@pytest.mark.parametrize("client", [None, "", "nobody", "Internal", "internal "])
def test_every_registry_and_prompt_function_rejects_an_unknown_client(
    client: Any,
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
    for tool in ("memory", "calendar"):
        for get in (registry.get_tool, langchain_tools.get_langchain_tool):
            with pytest.raises(LookupError):
                get(tool, client)
        with pytest.raises(UnknownClientError):
            registry.get_openai_tools_by_names_sync([tool], client)
        response = registry.call_tool_sync(tool, {}, client)
        assert response.error is not None and "client" in response.error
    for name in prompts.PROMPTS.sections:
        with pytest.raises(UnknownClientError):
            prompts.section(name, client)

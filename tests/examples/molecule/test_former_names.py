"""Previous names of renamed tools: accepted in calls, absent from lists and prompts."""

from __future__ import annotations

import asyncio

import pytest
from click.testing import CliRunner

from generated.molecule import cli, langchain_tools, prompts, registry

RENAMES = {
    "delegate_to_workspace": "delegate_task",
    "check_delegation_status": "check_task_status",
    "search_memory": "recall_memory",
}


@pytest.mark.parametrize("old", RENAMES)
def test_previous_tool_name_is_accepted_by_every_generated_module(old: str) -> None:
    """Registry, LangChain tools, commands and prompts resolve a previous tool name."""
    new = RENAMES[old]
    assert registry.get_tool(old).name == new
    assert registry.get_openai_tools_by_names_sync([old])[0]["function"]["name"] == new
    assert langchain_tools.get_langchain_tool(old).name == new
    # Both names return the same validation error.
    error, expected = (
        registry.call_tool_sync(name, {"workspace_id": 1}).error for name in (old, new)
    )
    assert error == expected and "are not valid" in str(error)
    output = CliRunner().invoke(cli.main, [old.replace("_", "-")]).output
    assert "Did you mean" in output
    assert prompts.PROMPTS.guidance([old]) == prompts.PROMPTS.guidance([new])


def test_previous_tool_names_are_in_no_tool_list_command_help_or_prompt() -> None:
    chained = langchain_tools.get_langchain_tools()
    tools = asyncio.run(registry.REGISTRY.list_tools())
    lists = [
        [tool.definition for tool in tools],
        registry.get_openai_tools_sync(),
        registry.get_mcp_tools_sync(),
        registry.get_routed_tools_catalog_sync(),
        [(t.name, t.description, t.args_schema) for t in chained],
        CliRunner().invoke(cli.main, ["--help"]).output,
        prompts.PROMPTS.files(),
    ]
    assert not [old for value in lists for old in RENAMES if old in repr(value)]

"""All of ren's tools, through the registry and over MCP, on each kind of database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from generated.ren.registry import REGISTRY
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call
from letta.tests.ren.story import run_story
from tests.mcp.servers import stdio_server

ROOT = Path(__file__).parents[3]
EXAMPLES = yaml.safe_load(Path(__file__).with_name("examples.yaml").read_text("utf-8"))
TOOLS = REGISTRY.names("claude")


def test_claude_client_lists_all_tools_and_ren_client_only_letta_attached_tools() -> (
    None
):
    """Exclude tools from ren's list that send a message to ren's own agent."""
    assert set(TOOLS) == {tool.name for tool in REGISTRY.local_tools}
    attached = {
        tool.name
        for tool in REGISTRY.local_tools
        if tool.parts.get("letta", {}).get("attached")
    }
    assert set(REGISTRY.names("ren")) == attached
    assert attached.isdisjoint(
        ["send_to_ren", "get_session_brief", "add_portrait_signal", "search_signals"]
    )


def assert_all_tools_are_covered(called: set[str]) -> None:
    """Check that each tool is called by the story or has an example."""
    assert called <= set(TOOLS)
    with_examples = {tool.name for tool in REGISTRY.tools("claude") if tool.examples}
    assert set(TOOLS) <= called | with_examples
    assert len(called) > len(TOOLS) / 2


def test_example_tools_complete_a_session_on_sqlite(
    call: Call, letta: FakeLetta
) -> None:
    assert_all_tools_are_covered(run_story(call, letta.script))


@pytest.mark.usefixtures("on_postgres")
def test_example_tools_complete_a_session_on_postgresql(
    call: Call, letta: FakeLetta
) -> None:
    assert_all_tools_are_covered(run_story(call, letta.script))
    health = call("check_system_health")
    assert [check["detail"] for check in health["checks"]][:2] == ["postgresql"] * 2


# tests/mcp/test_repository_servers.py also calls each tool over MCP, without `slow`.
@pytest.mark.slow
def test_example_tools_complete_a_session_over_mcp_stdio(letta: FakeLetta) -> None:
    with stdio_server(ROOT, "generated.ren", env=dict(os.environ)) as server:

        def call(tool: str, **arguments: Any) -> Any:
            result = server.call(tool, arguments)["result"]
            assert not result.get("isError"), (tool, result["content"])
            return result["structuredContent"]

        assert_all_tools_are_covered(run_story(call, letta.script))


def list_example_parameters() -> list[Any]:
    return [
        pytest.param(tool.name, example, id=f"{tool.name}-{number}")
        for tool in REGISTRY.tools("claude")
        for number, example in enumerate(tool.examples)
    ]


@pytest.mark.parametrize(("tool", "example"), list_example_parameters())
def test_tool_spec_example_returns_the_expected_result(
    tool: str, example: Any, letta: FakeLetta, call: Call, call_for_error: Call
) -> None:
    """`examples.yaml` has the expected results after the calls listed at its top."""
    (agent,) = letta.world.agents.values()
    letta.world.add_block(agent, "ren_tools", "Notecards.")
    letta.script += [{"text": "Yes."}, {"text": "Yes."}]
    for before, arguments in EXAMPLES["before"].items():
        call(before, **arguments)
    if "error" in example:
        assert call_for_error(tool, **example["arguments"]) == example["error"]
    else:
        result = call(tool, **example["arguments"])
        assert_matches(result, EXAMPLES["results"][tool][example["title"]])


def assert_matches(result: Any, expected: Any) -> None:
    """Check that a result equals the expected one, in which `ANY` matches any value."""
    if isinstance(expected, dict):
        assert result.keys() == expected.keys()
        for key in expected:
            assert_matches(result[key], expected[key])
    elif isinstance(expected, list):
        assert len(result) == len(expected), result
        for value, expected_value in zip(result, expected, strict=True):
            assert_matches(value, expected_value)
    else:
        assert result is not None if expected == "ANY" else result == expected


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_that_need_letta_report_the_unset_letta_base_url(tool: str) -> None:
    from generated.ren.registry import call_tool_sync

    example = REGISTRY.get_tool(tool, "claude").examples[0]
    response = call_tool_sync(tool, example["arguments"], "claude")
    assert "incident" not in (response.error or ""), response.error
    # Without a found signal, `search_signals` sends no request to Letta.
    needs_it = REGISTRY.get_tool(tool, "claude").service == "letta"
    if needs_it and tool != "search_signals":
        assert response.error == "Letta is not configured: LETTA_BASE_URL is unset."

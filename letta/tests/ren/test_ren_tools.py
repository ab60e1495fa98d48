"""Every tool of Ren's, through the registry and over MCP, on each kind of database."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from generated.ren.registry import REGISTRY
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call
from letta.tests.ren.story import tell
from tests.mcp.servers import stdio_server

ROOT = Path(__file__).parents[3]
EXAMPLES = yaml.safe_load(Path(__file__).with_name("examples.yaml").read_text("utf-8"))
TOOLS = REGISTRY.names("claude")


def test_claude_has_every_tool_and_ren_those_that_cannot_wake_her() -> None:
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


def assert_all_are_told(told: set[str]) -> None:
    """What the story does not tell has an example, which a test of its own calls."""
    assert told <= set(TOOLS)
    with_examples = {tool.name for tool in REGISTRY.tools("claude") if tool.examples}
    assert set(TOOLS) <= told | with_examples
    assert len(told) > len(TOOLS) / 2


def test_every_tool_on_sqlite(call: Call, letta: FakeLetta) -> None:
    assert_all_are_told(tell(call, letta.script))


@pytest.mark.usefixtures("on_postgres")
def test_every_tool_on_postgresql(call: Call, letta: FakeLetta) -> None:
    assert_all_are_told(tell(call, letta.script))
    health = call("check_system_health")
    assert [check["detail"] for check in health["checks"]][:2] == ["postgresql"] * 2


# The same over a process; tests/mcp/test_repository_servers.py calls each of them so at once.
@pytest.mark.slow
def test_every_tool_over_mcp(letta: FakeLetta) -> None:
    with stdio_server(ROOT, "generated.ren", env=dict(os.environ)) as server:

        def call(tool: str, **arguments: Any) -> Any:
            result = server.call(tool, arguments)["result"]
            assert not result.get("isError"), (tool, result["content"])
            return result["structuredContent"]

        assert_all_are_told(tell(call, letta.script))


def examples() -> list[Any]:
    return [
        pytest.param(tool.name, example, id=f"{tool.name}-{number}")
        for tool in REGISTRY.tools("claude")
        for number, example in enumerate(tool.examples)
    ]


@pytest.mark.parametrize(("tool", "example"), examples())
def test_an_example_does_what_it_says(
    tool: str, example: Any, letta: FakeLetta, call: Call, error_of: Call
) -> None:
    """`examples.yaml` has what it gives where the calls at its top were made before."""
    (agent,) = letta.world.agents.values()
    letta.world.add_block(agent, "ren_tools", "Notecards.")
    letta.script += [{"text": "Yes."}, {"text": "Yes."}]
    for before, arguments in EXAMPLES["before"].items():
        call(before, **arguments)
    if "error" in example:
        assert error_of(tool, **example["arguments"]) == example["error"]
    else:
        given = call(tool, **example["arguments"])
        assert_alike(given, EXAMPLES["results"][tool][example["title"]])


def assert_alike(given: Any, wanted: Any) -> None:
    """That a result is the one that is wanted, where `ANY` is whatever is there."""
    if isinstance(wanted, dict):
        assert given.keys() == wanted.keys()
        for key in wanted:
            assert_alike(given[key], wanted[key])
    elif isinstance(wanted, list):
        assert len(given) == len(wanted), given
        for one, other in zip(given, wanted, strict=True):
            assert_alike(one, other)
    else:
        assert given is not None if wanted == "ANY" else given == wanted


@pytest.mark.parametrize("tool", TOOLS)
def test_without_letta_every_tool_says_what_is_missing(tool: str) -> None:
    from generated.ren.registry import call_tool_sync

    example = REGISTRY.get_tool(tool, "claude").examples[0]
    response = call_tool_sync(tool, example["arguments"], "claude")
    assert "incident" not in (response.error or ""), response.error
    # Where no signal is found, nobody is asked about it.
    needs_it = REGISTRY.get_tool(tool, "claude").service == "letta"
    if needs_it and tool != "search_signals":
        assert response.error == "Letta is not connected: LETTA_BASE_URL is unset."

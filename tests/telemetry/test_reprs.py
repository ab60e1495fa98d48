"""What may stand in a log by its repr shows nothing of what callers sent."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.question import PendingQuestion, Question
from toolcast_runtime.core.server_settings import ResolvedServer
from toolcast_runtime.http import AdminRoute
from toolcast_runtime.mcp.toolset_server import ToolsetServer

SECRET: Any = {"x": "s3cret"}


@pytest.mark.parametrize(
    "value",
    [
        Question("q", "Sure?", {}, "buy", SECRET),
        PendingQuestion("r", "q", "buy", None, None, "Sure?", SECRET, {}, "2026"),
        PendingQuestion("r", "q", "buy", None, None, "Sure?", {}, SECRET, "2026"),
        Tool("a", "", "", {}, source="s3cret"),
        AdminRoute("GET", "/", SECRET),
        ResolvedServer(command="s3cret", args=("s3cret",), env=SECRET, cwd="s3cret"),
        ResolvedServer(url="https://s3cret", headers=SECRET, secrets=("s3cret",)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_repr_shows_no_secret(value: Any) -> None:
    assert "s3cret" not in repr(value)
    assert type(value).__name__ in repr(value)


def test_where_a_tool_comes_from_makes_it_no_other() -> None:
    tool = Tool("a", "", "", {})
    assert replace(tool, source="here") == tool != replace(tool, name="b")


@pytest.mark.parametrize("name", ["cancelled", "questions", "_timeout_at", "_futures"])
def test_a_call_begins_without_what_happens_in_it(name: str) -> None:
    words: Any = {name: True}
    with pytest.raises(TypeError):
        CallContext("a", **words)
    assert not getattr(CallContext("a"), name)


def test_a_part_refuses_the_calls_of_its_own_toolset() -> None:
    def toolset(name: str, *reasons: str | None) -> Any:
        parts = [
            SimpleNamespace(guard=lambda tool, headers, one=one: one) for one in reasons
        ]
        registry = SimpleNamespace(is_local=lambda tool: tool == name)
        return SimpleNamespace(parts=parts, registry=registry)

    sharing: Any = SimpleNamespace(
        member_servers=True,
        toolsets=[toolset("a", None, "no"), toolset("b", "never", "no")],
    )
    refusal = ToolsetServer.find_refusal
    assert refusal(sharing, "a", {}) == "no"
    assert refusal(sharing, "b", {}) == "never"
    assert refusal(sharing, "c", {}) is None
    alone: Any = SimpleNamespace(member_servers=False, toolsets=[toolset("a", "no")])
    assert refusal(alone, "c", {}) == "no"

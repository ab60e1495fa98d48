"""Representations without secrets, tool equality, initial call state and toolset guards."""

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
def test_repr_of_objects_with_secrets_has_only_the_type_name(value: Any) -> None:
    assert "s3cret" not in repr(value)
    assert type(value).__name__ in repr(value)


def test_tool_objects_are_equal_if_only_their_source_path_differs() -> None:
    tool = Tool("a", "", "", {})
    assert replace(tool, source="here") == tool != replace(tool, name="b")


def test_call_context_rejects_its_internal_state_as_constructor_arguments() -> None:
    """Fields such as `cancelled` and `questions` start empty."""
    for name in ("cancelled", "questions", "_timeout_at", "_futures"):
        arguments: Any = {name: True}
        with pytest.raises(TypeError):
            CallContext("a", **arguments)
        assert not getattr(CallContext("a"), name)


def test_guard_in_a_combined_mcp_server_applies_only_to_its_toolsets_calls() -> None:
    """Guards of a server with one toolset apply to every call."""

    def toolset(name: str, *reasons: str | None) -> Any:
        parts = [
            SimpleNamespace(guard=lambda tool, headers, reason=reason: reason)
            for reason in reasons
        ]
        registry = SimpleNamespace(is_local=lambda tool: tool == name)
        return SimpleNamespace(parts=parts, registry=registry)

    shared_server: Any = SimpleNamespace(
        member_servers=True,
        toolsets=[toolset("a", None, "no"), toolset("b", "never", "no")],
    )
    find_refusal = ToolsetServer.find_refusal
    assert find_refusal(shared_server, "a", {}) == "no"
    assert find_refusal(shared_server, "b", {}) == "never"
    assert find_refusal(shared_server, "c", {}) is None
    single_server: Any = SimpleNamespace(
        member_servers=False, toolsets=[toolset("a", "no")]
    )
    assert find_refusal(single_server, "c", {}) == "no"

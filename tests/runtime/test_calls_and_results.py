"""Calls of a toolset: argument and result checks, questions, warnings and results."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core import optional
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.context import CallContext, ToolError, ToolResponse
from toolcast_runtime.core.definitions.tool import Action, Tool
from toolcast_runtime.types import tool_result

DATE = {"type": "string", "format": "date"}
SCHEMA = {"type": "object", "properties": {"day": DATE}}
TOOL = Tool("look", "", "", {"inputSchema": SCHEMA})


@pytest.mark.parametrize(
    ("asserts_formats", "proxy", "is_refused"),
    [(True, None, True), (False, None, False), (True, object(), False)],
)
def test_wrong_format_is_rejected_only_for_a_local_tool_with_asserts_formats(
    asserts_formats: bool, proxy: Any, is_refused: bool
) -> None:
    """The arguments of a proxied tool are left to its external server."""
    validators = Validators(asserts_formats=asserts_formats)
    tool = replace(TOOL, proxy=proxy)
    for _ in range(2):
        problems = validators.check_arguments(tool, {"day": "soon"})
        assert bool(problems) is is_refused
    assert Validators().check_arguments(TOOL, {"day": "soon"}) == []
    assert ToolCalls().validators.check_arguments(TOOL, {"day": "soon"}) != []


def test_result_format_is_checked_only_for_a_tool_with_a_result_type() -> None:
    """Tools without an output schema accept every result."""
    tool = replace(TOOL, definition={"inputSchema": SCHEMA, "outputSchema": SCHEMA})
    assert Validators().check_result(tool, {"day": "soon"}) == []
    typed_tool = replace(tool, result_type="a:B")
    assert Validators().check_result(typed_tool, {"day": "soon"}) != []
    assert Validators().check_result(TOOL, {"day": 1}) == []


ACTIONS = {
    "make": Action(requires=("name",)),
    "find": Action(requires_any=("name", "day")),
    "list": Action(accepts=("day",)),
    "both": Action(requires=("name",), requires_any=("day",), accepts=()),
}


@pytest.mark.parametrize(
    ("action_and_names", "problems"),
    [
        ("make name", []),
        ("make", ["`name` is required for what `make`"]),
        ("make name other", []),
        ("find name", []),
        ("find day name", []),
        ("find", ["what `find` needs at least one of `name`, `day`"]),
        ("list", []),
        ("list day", []),
        ("list day other", ["`other` is not accepted by what `list`"]),
        ("both name day", []),
        ("both name day other", ["`other` is not accepted by what `both`"]),
        ("unheard-of", []),
    ],
)
def test_tool_action_arguments_are_checked_against_requires_and_accepts(
    action_and_names: str, problems: list[str]
) -> None:
    """`requires`, `requires_any` and `accepts` apply after the schema has no problems."""
    action, *names = action_and_names.split()
    arguments = {"what": action, **dict.fromkeys(names, "2026-01-01")}
    tool = replace(TOOL, action_parameter="what", actions=ACTIONS)
    assert Validators().check_arguments(tool, arguments) == problems
    assert len(Validators().check_arguments(tool, {**arguments, "day": 1})) == 1
    del arguments["what"]
    assert Validators().check_arguments(tool, arguments) == []


def test_tool_with_an_invalid_json_schema_refuses_all_arguments_and_results() -> None:
    broken = {"type": 7}
    tool = replace(TOOL, definition={"inputSchema": broken, "outputSchema": broken})
    problem = "the value cannot be checked: the tool's schema cannot be applied"
    assert Validators().check_arguments(tool, {}) == [problem]
    assert Validators().check_result(tool, {}) == [problem]


async def test_first_call_to_each_deprecated_tool_logs_one_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "toolcast")
    calls, old = ToolCalls(), replace(TOOL, deprecated={"since": "1.0"})
    for tool in (TOOL, old, old, replace(old, name="gaze")):
        await calls.call(tool, None, {}, CallContext(tool.name))
    assert caplog.messages == [
        f"{name} is called. Deprecated." for name in ("look", "gaze")
    ]


async def test_tool_calls_close_closes_a_used_ledger_recorder_and_creates_no_unused_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The recorder is created when it is first used."""
    events: list[str] = []

    async def close() -> None:
        events.append("closed")

    def make_recorder(*_: Any) -> Any:
        events.append("made")
        return SimpleNamespace(close=close)

    monkeypatch.setattr(optional.recorder, "Recorder", make_recorder)
    calls = ToolCalls()
    await calls.close()
    assert events == []
    assert calls._recorder
    await calls.close()
    assert events == ["made", "closed"]


async def test_tool_calls_admit_makes_user_questions_only_if_it_receives_an_ask_function(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`ask` is the function that puts a question to the user."""
    calls, prepared = ToolCalls(), list[Any]()

    def make_questions(*args: Any) -> Any:
        prepared.append(args)
        return lambda: None

    monkeypatch.setattr(calls, "make_questions", make_questions)
    await calls.admit(TOOL, None, None, "desk", ask=None)
    assert prepared == []
    ask: Any = object()
    await calls.admit(TOOL, None, None, "desk", ask=ask)
    assert prepared == [(ask, TOOL, "desk", {})]


@pytest.mark.parametrize(
    ("response", "result"),
    [
        (ToolResponse(1), 1),
        (ToolResponse(), None),
        (ToolResponse(1, content=[{"type": "text"}]), 1),
        (ToolResponse(content=[{"type": "text"}]), [{"type": "text"}]),
    ],
)
async def test_tool_result_function_returns_the_responses_result_or_else_its_content_blocks(
    response: ToolResponse, result: Any
) -> None:
    async def answer() -> ToolResponse:
        return response

    assert await tool_result(answer()) == result


async def test_tool_result_function_raises_tool_error_for_an_error_response() -> None:
    async def answer() -> ToolResponse:
        return ToolResponse(error="it is late", content=[{"type": "text"}])

    with pytest.raises(ToolError, match=r"^it is late$"):
        await tool_result(answer())

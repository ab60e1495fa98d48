"""What the calls of a toolset do besides their handlers' work: checks, questions, warnings."""

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
def test_a_text_is_of_its_format_where_that_is_asserted(
    asserts_formats: bool, proxy: Any, is_refused: bool
) -> None:
    """What a proxied tool takes is for its own server to say."""
    validators = Validators(asserts_formats=asserts_formats)
    tool = replace(TOOL, proxy=proxy)
    for _ in range(2):
        found = validators.check_arguments(tool, {"day": "soon"})
        assert bool(found) is is_refused


def test_by_itself_nothing_is_asserted_but_of_calls_it_is() -> None:
    given = {"day": "soon"}
    assert Validators().check_arguments(TOOL, given) == []
    assert ToolCalls().validators.check_arguments(TOOL, given) != []


@pytest.mark.parametrize(("result_type", "is_refused"), [(None, False), ("a:B", True)])
def test_a_class_is_held_to_the_formats_that_it_writes(
    result_type: str | None, is_refused: bool
) -> None:
    tool = replace(
        TOOL,
        definition={"inputSchema": SCHEMA, "outputSchema": SCHEMA},
        result_type=result_type,
    )
    found = Validators().check_result(tool, {"day": "soon"})
    assert bool(found) is is_refused
    assert Validators().check_result(TOOL, {"day": 1}) == []


ACTIONS = {
    "make": Action(requires=("name",)),
    "find": Action(requires_any=("name", "day")),
    "list": Action(accepts=("day",)),
    "both": Action(requires=("name",), requires_any=("day",), accepts=()),
}


@pytest.mark.parametrize(
    ("given", "problems"),
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
def test_an_action_takes_what_it_says(given: str, problems: list[str]) -> None:
    chosen, *names = given.split()
    arguments = {"what": chosen, **dict.fromkeys(names, "2026-01-01")}
    tool = replace(TOOL, action_parameter="what", actions=ACTIONS)
    found = Validators().check_arguments(tool, arguments)
    assert found == problems
    # What is wrong by the schema is said first.
    assert len(Validators().check_arguments(tool, {**arguments, "day": 1})) == 1
    del arguments["what"]
    assert Validators().check_arguments(tool, arguments) == []


def test_a_schema_that_cannot_be_applied_lets_nothing_through() -> None:
    broken = {"type": 7}
    tool = replace(TOOL, definition={"inputSchema": broken, "outputSchema": broken})
    for found in (
        Validators().check_arguments(tool, {}),
        Validators().check_result(tool, {}),
    ):
        assert found == [
            "the value cannot be checked: the tool's schema cannot be applied"
        ]


async def test_a_deprecated_tool_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "toolcast")
    calls, old = ToolCalls(), replace(TOOL, deprecated={"since": "1.0"})
    for tool in (TOOL, old, old, replace(old, name="gaze")):
        await calls.call(tool, None, {}, CallContext(tool.name))
    told = [record.getMessage().partition(" ")[0] for record in caplog.records]
    assert told == ["look", "gaze"]


async def test_without_a_recorder_nothing_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[str] = []

    async def close() -> None:
        made.append("closed")

    def recorder(*_: Any) -> Any:
        made.append("made")
        return SimpleNamespace(close=close)

    monkeypatch.setattr(optional.recorder, "Recorder", recorder)
    calls = ToolCalls()
    await calls.close()
    assert made == []
    assert calls._recorder
    await calls.close()
    assert made == ["made", "closed"]


@pytest.mark.parametrize(("ask", "is_asked"), [(None, False), (object(), True)])
async def test_who_can_be_asked_is_found_out_where_somebody_asks(
    monkeypatch: pytest.MonkeyPatch, ask: Any, is_asked: bool
) -> None:
    calls, asked = ToolCalls(), list[Any]()

    def make_questions(*given: Any) -> Any:
        asked.append(given)
        return lambda: None

    monkeypatch.setattr(calls, "make_questions", make_questions)
    await calls.admit(TOOL, None, None, "desk", ask=ask)
    assert asked == ([(ask, TOOL, "desk", {})] if is_asked else [])


@pytest.mark.parametrize(
    ("response", "result"),
    [
        (ToolResponse(1), 1),
        (ToolResponse(), None),
        (ToolResponse(1, content=[{"type": "text"}]), 1),
        (ToolResponse(content=[{"type": "text"}]), [{"type": "text"}]),
    ],
)
async def test_a_program_is_given_the_result_or_else_the_blocks(
    response: ToolResponse, result: Any
) -> None:
    async def answer() -> ToolResponse:
        return response

    assert await tool_result(answer()) == result


async def test_a_failure_is_raised() -> None:
    async def answer() -> ToolResponse:
        return ToolResponse(error="it is late", content=[{"type": "text"}])

    with pytest.raises(ToolError, match=r"^it is late$"):
        await tool_result(answer())

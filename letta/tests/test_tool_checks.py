"""Results of calls to attached tools, without a model and in a turn."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.plan.backend import AgentCount, CallOptions, CheckResult
from toolcast_letta.plan.desired_state import DesiredTool
from toolcast_letta.v1.api import LettaError
from toolcast_letta.v1.tool_checks import run_agent_checks

AGENT: Any = SimpleNamespace(name="me", id="agent-1")
NO_REASON = (
    "the tool failed, and Letta returned no reason; see the log of the "
    "MCP server with `--log-level debug`"
)
EXAMPLE: dict[str, Any] = {"arguments": {"x": "é"}}


def tool(*examples: Any, **part: Any) -> DesiredTool:
    return DesiredTool("a", "", {}, {"attached": True, **part}, True, examples, ())


class Api:
    """A stand-in for the API that returns these answers or raises these errors."""

    def __init__(self, run: Any = None, again: Any = None, turn: Any = None) -> None:
        self.answers = {"run": run, "again": again, "turn": turn}
        self.text = ""

    def _get_answer(self, kind: str) -> Any:
        answer = self.answers[kind]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run_attached(self, *_: Any) -> Any:
        return self._get_answer("run")

    def run_registered(self, *_: Any) -> Any:
        return self._get_answer("again")

    def run_turn(self, _: str, text: str) -> Any:
        self.text = text
        return self._get_answer("turn")

    def redact(self, text: str) -> str:
        return text.replace("s3cret", "***")


def run_checks(
    checked_tool: DesiredTool,
    api: Api,
    calls: CallOptions | None = None,
    *,
    attached: bool = True,
    entry: bool = True,
) -> list[CheckResult]:
    desired: Any = SimpleNamespace(canonical=["a"], tools={"a": checked_tool})
    current: Any = SimpleNamespace(
        agents={"me": SimpleNamespace(tools=["a"] if attached else [])},
        entry=SimpleNamespace(id="mcp-1") if entry else None,
        registry={"a": SimpleNamespace(id="tool-1")},
    )
    anything: Any = api
    return list(
        run_agent_checks(anything, desired, AGENT, current, calls or CallOptions())
    )


@pytest.mark.parametrize(
    ("checked_tool", "calls", "trial"),
    [
        (tool(), CallOptions(), None),
        (tool(EXAMPLE), CallOptions(examples=False), None),
        (tool(EXAMPLE), CallOptions(tools=("b",)), None),
        (tool(), CallOptions(tools=("a",)), (None, "its spec has no example", True)),
        (
            tool(EXAMPLE, changes_data=True),
            CallOptions(),
            (
                None,
                "it changes data or requires approval; pass --call-changing to call it",
                False,
            ),
        ),
        (
            tool(EXAMPLE, requires_approval=True),
            CallOptions(tools=("a",)),
            (
                None,
                "it changes data or requires approval; pass --call-changing to call it",
                True,
            ),
        ),
        (
            tool(EXAMPLE, changes_data=True),
            CallOptions(changing=True),
            (True, "1 example", False),
        ),
        (tool(EXAMPLE), CallOptions(), (True, "1 example", False)),
        (tool(EXAMPLE, EXAMPLE), CallOptions(), (True, "2 examples", False)),
    ],
)
def test_letta_verify_calls_tool_examples_unless_options_exclude_them(
    checked_tool: DesiredTool, calls: CallOptions, trial: tuple[Any, ...] | None
) -> None:
    found = run_checks(checked_tool, Api({"status": "success"}), calls)
    assert [(t.passed, t.detail, t.is_asked) for t in found] == [trial][
        : trial is not None
    ]
    assert all((t.agent, t.tool, t.kind) == ("me", "a", "run") for t in found)


def test_letta_verify_fails_for_an_unattached_tool_without_calling_it() -> None:
    (trial,) = run_checks(tool(EXAMPLE), Api(), attached=False)
    assert (trial.passed, trial.detail) == (False, "it is not attached")


FAILING_EXAMPLE = {**EXAMPLE, "error": "no"}


@pytest.mark.parametrize(
    ("checked_tool", "api", "detail"),
    [
        (tool(FAILING_EXAMPLE), Api({"status": "error"}), None),
        (
            tool(FAILING_EXAMPLE),
            Api({"status": "success", "func_return": "a  s3cret\nb"}),
            "the example declares an error, but the call returned a *** b",
        ),
        (
            tool(FAILING_EXAMPLE),
            Api({"status": "success"}),
            "the example declares an error, but the call returned nothing",
        ),
        (tool(EXAMPLE), Api(LettaError("away")), "away"),
        (tool(EXAMPLE), Api({"status": "error", "stderr": ["a", 1]}), "a 1"),
        (tool(EXAMPLE), Api({"status": "error", "stderr": "x" * 201}), "x" * 200),
        (
            tool(EXAMPLE),
            Api({"status": "error"}, {"status": "error", "func_return": "why"}),
            "why",
        ),
        (tool(EXAMPLE), Api({"status": "error"}, {"status": "error"}), NO_REASON),
        (tool(EXAMPLE), Api({"status": "error"}, LettaError("away")), NO_REASON),
        (
            tool(EXAMPLE),
            Api({"status": "error"}, {"status": "success"}),
            "the tool failed for the agent and succeeded without an agent",
        ),
        (
            tool(EXAMPLE, changes_data=True),
            Api({"status": "error"}, {"status": "error", "func_return": "why"}),
            NO_REASON,
        ),
    ],
)
def test_letta_verify_check_detail_has_the_reason_for_a_failed_tool_call(
    checked_tool: DesiredTool, api: Api, detail: str | None
) -> None:
    (trial,) = run_checks(checked_tool, api, CallOptions(changing=True))
    assert trial.passed is (detail is None)
    assert trial.detail == (detail or "1 example")


def test_letta_verify_does_not_repeat_a_failed_call_without_a_server_entry() -> None:
    api = Api({"status": "error"}, {"status": "error", "func_return": "why"})
    (trial,) = run_checks(tool(EXAMPLE), api, entry=False)
    assert trial.detail == NO_REASON


def make_turn_answer(
    status: str = "success", name: str = "a", steps: Any = 2
) -> dict[str, Any]:
    called = {"message_type": "tool_call_message", "tool_call": {"name": name}}
    gave = {
        "message_type": "tool_return_message",
        "name": name,
        "status": status,
        "tool_return": "s3cret" + "x" * 200,
    }
    return {"messages": [called, gave], "usage": {"step_count": steps}}


@pytest.mark.parametrize(
    ("checked_tool", "answer", "passed", "detail"),
    [
        (tool(), make_turn_answer(), True, "2 steps"),
        (tool(), make_turn_answer(steps=3), True, "3 steps"),
        (
            tool(),
            make_turn_answer(steps=1),
            False,
            "the turn ended after one step: its rule is missing",
        ),
        (tool(ends_turn=True), make_turn_answer(steps=1), True, "1 step"),
        (tool(ends_turn=True), make_turn_answer(steps=None), True, "0 steps"),
        (tool(), make_turn_answer("error"), False, "it failed: ***" + "x" * 197),
        (
            tool(),
            make_turn_answer(name="b"),
            False,
            "it was not called; the agent called ['b']",
        ),
        (tool(), {}, False, "it was not called; the agent called no tool"),
        (
            tool(),
            {"messages": [{"message_type": "tool_call_message"}]},
            False,
            "it was not called; the agent called [None]",
        ),
        (tool(), LettaError("away"), False, "away"),
        (
            tool(requires_approval=True),
            make_turn_answer(),
            None,
            "a user would have to approve the call during the turn",
        ),
        (
            tool(changes_data=True),
            make_turn_answer(),
            None,
            "it changes data; pass --call-changing to run the turn",
        ),
    ],
)
def test_letta_verify_turn_requires_a_successful_tool_call_and_continuation(
    checked_tool: DesiredTool, answer: Any, passed: bool | None, detail: str
) -> None:
    api = Api(turn=answer)
    (trial,) = run_checks(checked_tool, api, CallOptions(examples=False, turn="a"))
    assert (trial.kind, trial.is_asked) == ("turn", True)
    assert (trial.passed, trial.detail) == (passed, detail)


def test_letta_verify_turn_prompt_contains_the_first_examples_arguments() -> None:
    api = Api(turn=make_turn_answer())
    calls = CallOptions(examples=False, turn="a", changing=True)
    (trial,) = run_checks(
        tool(EXAMPLE, {"arguments": {}}, changes_data=True), api, calls
    )
    assert trial.passed
    assert 'exactly these arguments: {"x": "é"}. Then' in api.text


def test_letta_agent_tool_count_json_lists_gained_and_lost_tools() -> None:
    count = AgentCount("me", ("a", "b"), 1, ("b", "c"))
    assert count.to_json() == {
        "agent": "me",
        "attached": 2,
        "canonical": 1,
        "names": ["a", "b"],
        "baseline": 2,
        "gained": ["a"],
        "lost": ["c"],
    }
    alone = AgentCount("me", ("a",), 1).to_json()
    assert (alone["baseline"], alone["gained"], alone["lost"]) == (None, [], [])

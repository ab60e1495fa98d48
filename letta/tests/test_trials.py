"""What calls of attached tools tell, without a model and in a turn, answer by answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.plan.backend import AgentCount, CallOptions, CheckResult
from toolcast_letta.plan.desired_state import DesiredTool
from toolcast_letta.v1.api import LettaError
from toolcast_letta.v1.tool_checks import run_agent_checks

AGENT: Any = SimpleNamespace(name="me", id="agent-1")
UNSAID = (
    "the tool failed, and Letta returned no reason; see the log of the "
    "MCP server with `--log-level debug`"
)
GOOD: dict[str, Any] = {"arguments": {"x": "é"}}


def tool(*examples: Any, **part: Any) -> DesiredTool:
    return DesiredTool("a", "", {}, {"attached": True, **part}, True, examples, ())


class Api:
    """Gives these answers; one that is an error is raised."""

    def __init__(self, run: Any = None, again: Any = None, turn: Any = None) -> None:
        self.answers = {"run": run, "again": again, "turn": turn}
        self.text = ""

    def _given(self, kind: str) -> Any:
        answer = self.answers[kind]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def run_attached(self, *_: Any) -> Any:
        return self._given("run")

    def run_registered(self, *_: Any) -> Any:
        return self._given("again")

    def run_turn(self, _: str, text: str) -> Any:
        self.text = text
        return self._given("turn")

    def redact(self, text: str) -> str:
        return text.replace("s3cret", "***")


def tried(
    one: DesiredTool,
    api: Api,
    calls: CallOptions | None = None,
    *,
    attached: bool = True,
    entry: bool = True,
) -> list[CheckResult]:
    desired: Any = SimpleNamespace(canonical=["a"], tools={"a": one})
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
    ("one", "calls", "trial"),
    [
        (tool(), CallOptions(), None),
        (tool(GOOD), CallOptions(examples=False), None),
        (tool(GOOD), CallOptions(tools=("b",)), None),
        (
            tool(),
            CallOptions(tools=("a",)),
            (None, "its spec has no example", True),
        ),
        (
            tool(GOOD, changes_data=True),
            CallOptions(),
            (
                None,
                "it changes data or requires approval; pass --call-changing to call it",
                False,
            ),
        ),
        (
            tool(GOOD, requires_approval=True),
            CallOptions(tools=("a",)),
            (
                None,
                "it changes data or requires approval; pass --call-changing to call it",
                True,
            ),
        ),
        (
            tool(GOOD, changes_data=True),
            CallOptions(changing=True),
            (True, "1 example", False),
        ),
        (tool(GOOD), CallOptions(), (True, "1 example", False)),
        (tool(GOOD, GOOD), CallOptions(), (True, "2 examples", False)),
    ],
)
def test_examples_are_called_or_left_out(
    one: DesiredTool, calls: CallOptions, trial: tuple[Any, ...] | None
) -> None:
    found = tried(one, Api({"status": "success"}), calls)
    assert [(t.passed, t.detail, t.is_asked) for t in found] == [trial][
        : trial is not None
    ]
    assert all((t.agent, t.tool, t.kind) == ("me", "a", "run") for t in found)


def test_a_tool_that_is_not_attached_is_not_called() -> None:
    (trial,) = tried(tool(GOOD), Api(), attached=False)
    assert (trial.passed, trial.detail) == (False, "it is not attached")


FAILS = {**GOOD, "error": "no"}


@pytest.mark.parametrize(
    ("one", "api", "detail"),
    [
        (tool(FAILS), Api({"status": "error"}), None),
        (
            tool(FAILS),
            Api({"status": "success", "func_return": "a  s3cret\nb"}),
            "the example declares an error, but the call returned a *** b",
        ),
        (
            tool(FAILS),
            Api({"status": "success"}),
            "the example declares an error, but the call returned nothing",
        ),
        (tool(GOOD), Api(LettaError("away")), "away"),
        (tool(GOOD), Api({"status": "error", "stderr": ["a", 1]}), "a 1"),
        (tool(GOOD), Api({"status": "error", "stderr": "x" * 201}), "x" * 200),
        (
            tool(GOOD),
            Api({"status": "error"}, {"status": "error", "func_return": "why"}),
            "why",
        ),
        (tool(GOOD), Api({"status": "error"}, {"status": "error"}), UNSAID),
        (tool(GOOD), Api({"status": "error"}, LettaError("away")), UNSAID),
        (
            tool(GOOD),
            Api({"status": "error"}, {"status": "success"}),
            "the tool failed for the agent and succeeded without an agent",
        ),
        (
            tool(GOOD, changes_data=True),
            Api({"status": "error"}, {"status": "error", "func_return": "why"}),
            UNSAID,
        ),
    ],
)
def test_a_wrong_answer_is_told(one: DesiredTool, api: Api, detail: str | None) -> None:
    (trial,) = tried(one, api, CallOptions(changing=True))
    assert trial.passed is (detail is None)
    assert trial.detail == (detail or "1 example")


def test_without_an_entry_nobody_is_asked_again() -> None:
    api = Api({"status": "error"}, {"status": "error", "func_return": "why"})
    (trial,) = tried(tool(GOOD), api, entry=False)
    assert trial.detail == UNSAID


def _turned(status: str = "success", name: str = "a", steps: Any = 2) -> dict[str, Any]:
    called = {"message_type": "tool_call_message", "tool_call": {"name": name}}
    gave = {
        "message_type": "tool_return_message",
        "name": name,
        "status": status,
        "tool_return": "s3cret" + "x" * 200,
    }
    return {"messages": [called, gave], "usage": {"step_count": steps}}


@pytest.mark.parametrize(
    ("one", "answer", "passed", "detail"),
    [
        (tool(), _turned(), True, "2 steps"),
        (tool(), _turned(steps=3), True, "3 steps"),
        (
            tool(),
            _turned(steps=1),
            False,
            "the turn ended after one step: its rule is missing",
        ),
        (tool(ends_turn=True), _turned(steps=1), True, "1 step"),
        (tool(ends_turn=True), _turned(steps=None), True, "0 steps"),
        (tool(), _turned("error"), False, "it failed: ***" + "x" * 197),
        (tool(), _turned(name="b"), False, "it was not called; the agent called ['b']"),
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
            _turned(),
            None,
            "a user would have to approve the call during the turn",
        ),
        (
            tool(changes_data=True),
            _turned(),
            None,
            "it changes data; pass --call-changing to run the turn",
        ),
    ],
)
def test_a_turn_proves_that_an_agent_can_call(
    one: DesiredTool, answer: Any, passed: bool | None, detail: str
) -> None:
    api = Api(turn=answer)
    (trial,) = tried(one, api, CallOptions(examples=False, turn="a"))
    assert (trial.kind, trial.is_asked) == ("turn", True)
    assert (trial.passed, trial.detail) == (passed, detail)


def test_a_turn_is_asked_for_with_the_first_example() -> None:
    api = Api(turn=_turned())
    calls = CallOptions(examples=False, turn="a", changing=True)
    (trial,) = tried(tool(GOOD, {"arguments": {}}, changes_data=True), api, calls)
    assert trial.passed
    assert 'exactly these arguments: {"x": "é"}. Then' in api.text


def test_counts_say_what_was_gained_and_lost() -> None:
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

"""Output and exit codes of commands for planned, applied and failed changes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.commands import operations
from toolcast_letta.plan.backend import (
    ApplyResult,
    BackendError,
    CallOptions,
    PlanRefusedError,
)
from toolcast_letta.plan.plan import Overrides
from toolcast_letta.state.baseline import ConcurrentRunError
from toolcast_letta.state.seal import StateError
from toolcast_letta.v1.api import UnverifiedStateError

DESIRED: Any = SimpleNamespace(select_agents=lambda names: ("for", *names), agents=())
BACKEND: Any = SimpleNamespace()
PLAN = "a plan\n"


class FakePlan:
    """A stand-in for a plan with these parts."""

    def __init__(self, backend: str = "v1", **more: Any) -> None:
        self.backend = backend
        self.location = "here"
        self.blockers = more.get("blockers", ())
        self.changes = more.get("changes", ())
        self.missing = more.get("missing", ())
        self.blocks = more.get("blocks", ())
        self.server = {"name": "toys"}
        self.agents = (SimpleNamespace(name="me"), SimpleNamespace(name="you"))
        self.saved: list[Path] = []
        self.error: Exception | None = None

    def to_json(self) -> dict[str, Any]:
        return {"place": self.location}

    def save(self, path: Path, seal: Any) -> None:
        if self.error is not None:
            raise self.error
        self.saved.append(path)


@pytest.fixture(autouse=True)
def replace_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "_connect", lambda request: (DESIRED, BACKEND))
    monkeypatch.setattr(operations, "format_plan", lambda made: PLAN)
    monkeypatch.setattr(operations, "Seal", lambda: "seal")


def make_request(**more: Any) -> Any:
    return SimpleNamespace(**{"as_json": False, "kind": "v1", **more})


@pytest.mark.parametrize(
    ("made", "kind", "out", "exits", "expected_output"),
    [
        (FakePlan(), "v1", None, (0, 0), PLAN),
        (FakePlan(changes=(1,)), "v1", None, (0, 2), PLAN),
        (FakePlan(blocks=(1,)), "v1", None, (0, 2), PLAN),
        (FakePlan(missing=("lost",)), "v1", None, (1, 1), PLAN),
        (FakePlan(missing=("lost",), changes=(1,)), "v1", None, (1, 1), PLAN),
        (FakePlan(blockers=(1,), changes=(1,)), "v1", None, (1, 1), PLAN),
        (
            FakePlan(),
            "v1",
            "a b.json",
            (0, 0),
            f"{PLAN}Saved: toolcast letta apply 'a b.json'\n",
        ),
        (
            FakePlan(),
            "code",
            "p.json",
            (0, 0),
            f"{PLAN}Saved: toolcast letta apply --backend code p.json\n",
        ),
        (FakePlan(blockers=(1,)), "v1", "p.json", (1, 1), f"{PLAN}Not saved: p.json\n"),
    ],
)
def test_letta_plan_command_prints_and_saves_the_plan_with_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    made: FakePlan,
    kind: str,
    out: str | None,
    exits: tuple[int, int],
    expected_output: str,
) -> None:
    """Exit with 1 for blockers or missing tools, with 2 for changes if requested."""
    monkeypatch.setattr(operations, "_build_plan", lambda *_: made)
    path = None if out is None else Path(out)
    for detailed, code in zip((False, True), exits, strict=True):
        request = make_request(kind=kind)
        found = operations.plan(request, Overrides(), path, detailed_exitcode=detailed)
        assert found == code
        assert capsys.readouterr().out == expected_output
    assert made.saved == ([] if path is None or made.blockers else [path] * 2)
    operations.plan(
        make_request(as_json=True), Overrides(), None, detailed_exitcode=False
    )
    assert json.loads(capsys.readouterr().out) == {"place": "here"}


def test_letta_plan_command_exits_with_2_if_the_plan_file_cannot_be_saved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = FakePlan()
    made.error = StateError("the disk is full")
    monkeypatch.setattr(operations, "_build_plan", lambda *_: made)
    with pytest.raises(SystemExit) as ended:
        operations.plan(make_request(), Overrides(), Path("p"), detailed_exitcode=False)
    assert ended.value.code == 2
    assert "the disk is full" in capsys.readouterr().err


SYNCED = "tools+rules synced - 3 tools, 4 rules\n"


@pytest.mark.parametrize(
    ("backend", "saved", "done", "code", "out", "err"),
    [
        ("v1", False, ApplyResult(3, 4, True), 0, PLAN + SYNCED, ""),
        (
            "v1",
            True,
            ApplyResult(3, 4, True, missing=("lost",)),
            1,
            SYNCED,
            "missing: lost\n",
        ),
        (
            "v1",
            False,
            ApplyResult(3, 4, True, missed=("m",)),
            1,
            PLAN + SYNCED,
            "not as planned: m\n",
        ),
        (
            "code",
            False,
            ApplyResult(3, 4, True),
            0,
            f"{PLAN}here: toys for 2 agents, written\n",
            "",
        ),
        (
            "code",
            False,
            ApplyResult(3, 4, False),
            0,
            f"{PLAN}here: toys for 2 agents, already up to date\n",
            "",
        ),
    ],
)
def test_letta_apply_command_prints_its_result_as_text_and_json(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    backend: str,
    saved: bool,
    done: ApplyResult,
    code: int,
    out: str,
    err: str,
) -> None:
    made, calls = FakePlan(backend), list[Any]()

    def fake_apply(*args: Any) -> ApplyResult:
        calls.append(args)
        args[3]("a step")
        return done

    loading: Any = SimpleNamespace(load=lambda file, seal: made)
    monkeypatch.setattr(operations, "Plan", loading)
    monkeypatch.setattr(operations, "_build_plan", lambda *_: made)
    monkeypatch.setattr(operations, "apply_plan", fake_apply)
    file = Path("plan.json") if saved else None
    assert operations.apply(make_request(), Overrides(), file) == code
    captured = capsys.readouterr()
    assert (captured.out.replace("a step\n", ""), captured.err) == (out, err)
    assert calls[0][2] == (("for", "me", "you") if saved else DESIRED)
    assert operations.apply(make_request(as_json=True), Overrides(), file) == code
    captured = capsys.readouterr()
    assert json.loads(captured.out)["tools"] == 3
    assert captured.err == "a step\n"


@pytest.mark.parametrize(
    ("error", "code", "expected_error"),
    [
        (PlanRefusedError("no\nwhy"), 1, "refused: no\n  why\n"),
        (ConcurrentRunError("busy"), 1, "refused: busy\n"),
        (StateError("torn"), 1, "refused: torn\n"),
        (BackendError("away"), 1, "error: away\n"),
        (
            UnverifiedStateError("cut"),
            1,
            "error: cut\n  help: run the command again: the effect is unknown\n",
        ),
    ],
)
def test_letta_apply_command_prints_errors_and_refusals_and_exits_with_1(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    code: int,
    expected_error: str,
) -> None:
    def fake_apply(*_: Any) -> ApplyResult:
        raise error

    monkeypatch.setattr(operations, "_build_plan", lambda *_: FakePlan())
    monkeypatch.setattr(operations, "apply_plan", fake_apply)
    try:
        found = operations.apply(make_request(), Overrides(), None)
    except SystemExit as ended:
        found = int(str(ended.code))
    assert found == code
    assert capsys.readouterr().err == expected_error


@pytest.mark.parametrize(("is_success", "code"), [(True, 0), (False, 1)])
def test_letta_verify_command_prints_its_result_and_exits_with_1_on_differences(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    is_success: bool,
    code: int,
) -> None:
    found: Any = SimpleNamespace(
        is_success=is_success, plan=None, to_json=lambda: {"x": 1}
    )
    monkeypatch.setattr(operations, "_add_blocks", lambda plan, *_: plan)
    monkeypatch.setattr(operations, "verify_it", lambda *_: found)
    monkeypatch.setattr(operations, "replace", lambda found, plan: found)
    monkeypatch.setattr(operations, "format_verification", lambda found: "as text\n")
    assert operations.verify(make_request(), CallOptions()) == code
    assert capsys.readouterr().out == "as text\n"
    assert operations.verify(make_request(as_json=True), CallOptions()) == code
    assert json.loads(capsys.readouterr().out) == {"x": 1}

"""Answers of the sync endpoint, and synchronization at startup."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.plan.backend import ApplyResult, PlanRefusedError
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.server_part import sync as syncing
from toolcast_letta.state.baseline import ConcurrentRunError
from toolcast_letta.state.seal import StateError
from toolcast_letta.v1.api import LettaError
from toolcast_runtime.http import AdminRequest

TOOLSET: Any = SimpleNamespace(name="ren", backend="v1")


class Plan:
    """A stand-in for a plan with these blockers and missing tools."""

    def __init__(self, *codes: str, missing: tuple[str, ...] = ()) -> None:
        self.blockers = [
            SimpleNamespace(code=blocker_code, message=f"no: {blocker_code}")
            for blocker_code in codes
        ]
        self.missing = missing
        self.warnings = ("w",)

    def to_json(self) -> dict[str, Any]:
        return {"blockers": len(self.blockers)}


class FakeSync:
    """A stand-in for `sync` that returns these outcomes; the last one is repeated."""

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = [*outcomes]
        self.calls: list[dict[str, Any]] = []

    def __call__(self, toolset: Any, **arguments: Any) -> Any:
        assert toolset is TOOLSET
        self.calls.append(arguments)
        outcome = self.outcomes[0]
        if len(self.outcomes) > 1:
            del self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


DONE = ApplyResult(3, 4, True, missed=())


@pytest.mark.parametrize(
    ("body", "outcome", "status", "value"),
    [
        ([], None, 400, {"error": "the body must be an object"}),
        ({"dry_run": 1}, None, 400, {"error": "`dry_run` must be a boolean"}),
        (
            {"force": True},
            None,
            400,
            {
                "error": "`force` is not a known key; use dry_run, allow_delete, "
                "allow_capture, drop_stale, accept_loss"
            },
        ),
        (
            {"allow_delete": "a"},
            None,
            400,
            {"error": "`allow_delete` must be an array of strings"},
        ),
        (
            {"drop_stale": ["a", 1]},
            None,
            400,
            {"error": "`drop_stale` must be an array of strings"},
        ),
        (None, MissingSettingError("set it"), 503, {"error": "set it"}),
        (None, PlanRefusedError("changed"), 409, {"error": "changed"}),
        (None, ConcurrentRunError("busy"), 409, {"error": "busy"}),
        (None, StateError("torn"), 503, {"error": "torn"}),
        (None, LettaError("away"), 502, {"error": "away"}),
        (None, (Plan(), None), 200, {"blockers": 0}),
        (None, (Plan("capture"), None), 409, {"blockers": 1}),
        (None, (Plan(missing=("b",)), None), 409, {"blockers": 0}),
        (
            {"allow_delete": ["a"]},
            (Plan(), DONE),
            200,
            {
                "tools": 3,
                "rules": 4,
                "changed": True,
                "missed": [],
                "missing": [],
                "warnings": ["w"],
            },
        ),
        (None, (Plan(), ApplyResult(3, 4, False, missed=("m",))), 409, None),
        (None, (Plan(), ApplyResult(3, 4, False, missing=("b",))), 409, None),
    ],
)
async def test_letta_sync_route_answers_with_the_http_status_and_the_apply_result(
    monkeypatch: pytest.MonkeyPatch, body: Any, outcome: Any, status: int, value: Any
) -> None:
    """Handle `POST /api/admin/sync-mcp-tools`, a route of generated MCP servers."""
    monkeypatch.setattr(syncing, "sync", FakeSync(outcome))
    route = syncing.build_sync_route(TOOLSET)
    assert (route.method, route.path) == ("POST", "/api/admin/sync-mcp-tools")
    answer = await route.answer(AdminRequest(body))
    assert answer.status == status
    if value is not None:
        assert answer.value == value


@pytest.mark.parametrize(
    ("body", "is_dry"),
    [(None, False), ({"dry_run": True}, True), ({"dry_run": False}, False)],
)
async def test_letta_sync_route_passes_overrides_and_dry_run_to_sync(
    monkeypatch: pytest.MonkeyPatch, body: Any, is_dry: bool
) -> None:
    syncs = FakeSync((Plan(), None))
    monkeypatch.setattr(syncing, "sync", syncs)
    await syncing.build_sync_route(TOOLSET).answer(AdminRequest(body))
    assert syncs.calls == [{"overrides": body or {}, "dry_run": is_dry}]


UNREACHABLE = (Plan("unreachable"), None)


@pytest.mark.parametrize(
    ("outcomes", "pauses", "message"),
    [
        ([(Plan(), DONE)], [1], None),
        ([LettaError("away"), (Plan(), DONE)], [1, 5], "was not synchronized: away"),
        ([UNREACHABLE, (Plan(), DONE)], [1, 5], "no: unreachable"),
        ([(Plan("empty-list"), None), (Plan(), DONE)], [1, 5], "no: empty-list"),
        ([(Plan("capture"), None)], [1], "no: capture"),
        ([(Plan(), None)], [1], "the plan removes something"),
        ([MissingSettingError("set it")], [1], "set it"),
        ([PlanRefusedError("changed")], [1], "changed"),
        ([StateError("torn")], [1], "torn"),
        ([ConcurrentRunError("busy")], [1], "another process is synchronizing Letta"),
        ([ZeroDivisionError("oops")], [1], "oops"),
        (
            [LettaError("away")],
            [1, 5, 20, 20, 4],
            (
                "was not synchronized within 50 seconds; run: toolcast letta apply "
                "--toolset ren"
            ),
        ),
    ],
)
async def test_generated_server_startup_synchronizes_letta_or_retries_if_unreachable(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    outcomes: list[Any],
    pauses: list[float],
    message: str | None,
) -> None:
    syncs, slept = FakeSync(*outcomes), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(syncing, "sync", syncs)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    with caplog.at_level(logging.INFO, "toolcast.letta"):
        await syncing.build_startup_task(TOOLSET, 50.0)()
    assert slept == pauses
    assert len(syncs.calls) == len(pauses)
    assert all(call == {"adds_only": True} for call in syncs.calls)
    assert (message or "") in caplog.text
    assert bool(caplog.text) is (message is not None)


@pytest.mark.parametrize(
    ("timeout", "pauses"), [(0.0, [0]), (0.5, [0.5]), (6.0, [1, 5])]
)
async def test_generated_server_startup_last_letta_sync_retry_is_when_the_timeout_ends(
    monkeypatch: pytest.MonkeyPatch, timeout: float, pauses: list[float]
) -> None:
    slept = list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(syncing, "sync", FakeSync(UNREACHABLE))
    monkeypatch.setattr(asyncio, "sleep", sleep)
    await syncing.build_startup_task(TOOLSET, timeout)()
    assert slept == pauses


@pytest.mark.parametrize(
    ("toolset", "environment", "problem"),
    [
        (SimpleNamespace(name="ren", backend="code"), {}, "`backend: code`"),
        (TOOLSET, {}, "set the environment variable LETTA_BASE_URL"),
        (
            TOOLSET,
            {"LETTA_BASE_URL": "  "},
            "set the environment variable LETTA_BASE_URL",
        ),
    ],
)
def test_letta_sync_connect_raises_missing_setting_error(
    toolset: Any, environment: Any, problem: str
) -> None:
    """Require `LETTA_BASE_URL` and a backend other than `code`."""
    with pytest.raises(MissingSettingError, match=problem):
        syncing.connect(toolset, environment)


REMOVED_TOOL = SimpleNamespace(layer="tool")
REMOVED_RULE = SimpleNamespace(layer="rule")


@pytest.mark.parametrize(
    ("options", "blockers", "removals", "is_done"),
    [
        ({}, (), (), True),
        ({}, (), (REMOVED_TOOL,), True),
        ({}, (1,), (), False),
        ({"dry_run": True}, (), (), False),
        ({"adds_only": True}, (), (), True),
        ({"adds_only": True}, (), (REMOVED_TOOL,), False),
        ({"adds_only": True}, (), (REMOVED_RULE,), True),
    ],
)
def test_letta_sync_applies_the_plan_only_if_permitted(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    options: Any,
    blockers: Any,
    removals: Any,
    is_done: bool,
) -> None:
    """Skip the apply for blockers, `dry_run`, or tool removals with `adds_only`."""
    plan = SimpleNamespace(blockers=blockers, removals=removals, missing=("b",))
    backend = SimpleNamespace(location="here", read=lambda _: "there")
    made: list[Any] = []

    def make_plan(*args: Any) -> Any:
        made.append(args)
        return plan

    monkeypatch.setattr(syncing, "connect", lambda *_: (backend, "wanted"))
    monkeypatch.setattr(syncing, "build_plan", make_plan)
    monkeypatch.setattr(syncing, "apply_plan", lambda *_: DONE)
    named = {"allow_delete": ["a"], "allow_capture": ["b"], "drop_stale": ["c"]}
    caplog.set_level(logging.INFO, "toolcast.letta")
    found = syncing.sync(TOOLSET, {}, overrides=named, **options)
    assert found == (plan, DONE if is_done else None)
    assert made == [
        ("here", "wanted", "there", syncing.Overrides(("a",), ("b",), ("c",)))
    ]
    messages = ["tools+rules synced - 3 tools, 4 rules"]
    assert caplog.messages == messages * is_done

"""Time limits of a lifespan and the messages when they are exceeded."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tests.lifespan.conftest import Toolset
from tests.waiting import wait_until_async
from toolcast_runtime.lifespan import dependencies as lifespan


async def test_lifespan_start_is_limited_to_60_seconds_and_its_end_to_4_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert lifespan._format_late_start() == "it has not started within 60 seconds"
    loop = asyncio.get_running_loop()
    run = lifespan.Run(lifespan.Lifespan("a:b", ()), None, "toys", loop)
    waited: list[float] = []

    async def wait(_: Any, timeout: float) -> Any:
        waited.append(timeout)
        return set(), set()

    fake = SimpleNamespace(**{**vars(asyncio), "wait": wait})
    monkeypatch.setattr(lifespan, "asyncio", fake)
    await run.stop()
    assert waited == [4.0, 0.5]
    assert "the lifespan of `toys` (a:b) did not end within 4 seconds" in caplog.text
    caplog.clear()
    run._log_late_start()
    late = "the lifespan of `toys` (a:b): it has not started within 60 seconds"
    assert caplog.messages == [late]
    run.started.set_result({})
    run._log_late_start()
    assert caplog.messages == [late]


async def test_lifespan_start_timer_is_a_daemon_and_is_cancelled(
    toolset: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[threading.Timer] = []

    class Timer(threading.Timer):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(lifespan.threading, "Timer", Timer)
    async with toolset.registry:
        (clock,) = made
        assert (clock.daemon, clock.interval) == (True, 60.0)
    assert clock.finished.is_set()


async def test_registry_close_cancels_a_lifespan_that_is_starting(
    make_toolset: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not wait until the time limit for ending."""
    toolset = make_toolset("""
        @asynccontextmanager
        async def lifespan():
            events.append("starting")
            try:
                await asyncio.Event().wait()
            finally:
                events.append("cancelled")
            yield
    """)
    call = asyncio.ensure_future(toolset.registry.call_tool("plain"))
    await wait_until_async(lambda: toolset.events == ["starting"])
    await toolset.registry.close()
    assert (await call).error is not None
    assert toolset.events == ["starting", "cancelled"]
    assert "did not end within" not in caplog.text


def test_overriding_an_unknown_lifespan_dependency_suggests_a_similar_name() -> None:
    declared = lifespan.Lifespan("a:b", ("db", "db_2", "db2"))
    made = lifespan.Dependencies(declared, None, "toys")
    assert (made.has_ended, made.is_disabled, made.is_up) == (False, False, False)
    with made.override({"db": 1}):
        assert not made.is_up, "others are not replaced"
    for name, hint in (("dbs", "; did you mean `db`?"), ("cache", "")):
        with pytest.raises(LookupError) as error, made.override({name: 1}):
            pass
        assert str(error.value) == f"`toys` has no dependency `{name}`{hint}"


def test_dependencies_yielded_by_a_lifespan_must_equal_the_declared_names() -> None:
    assert lifespan._validate_dependencies(None, ()) == {}
    assert lifespan._validate_dependencies({"a": 1}, ("a",)) == {"a": 1}
    for value, names, message in (
        (1, (), "it yields `int`, but must yield a mapping with its dependencies"),
        ({}, ("a", "b"), "it does not yield `a`, `b`"),
        (None, ("a",), "it does not yield `a`"),
        (
            {"x": 1},
            ("a",),
            "it does not yield `a`; it yields `x`, which `dependencies` of toolset.yaml does"
            " not declare",
        ),
    ):
        with pytest.raises(lifespan.LifespanError) as error:
            lifespan._validate_dependencies(value, names)
        assert str(error.value) == message

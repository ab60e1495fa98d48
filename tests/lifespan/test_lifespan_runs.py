"""The run of a lifespan: entered once before the first call, ended after the last."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.lifespan.conftest import Toolset
from toolcast_runtime.lifespan import LifespanError
from toolcast_runtime.lifespan import dependencies as lifespan

Make = Callable[..., Toolset]


async def call_add(toolset: Toolset, text: str = "a") -> Any:
    response = await toolset.registry.call_tool("add", {"text": text})
    assert response.error is None, response.error
    return response.result


async def test_lifespan_starts_and_ends_with_the_registry(toolset: Toolset) -> None:
    async with toolset.registry:
        assert toolset.events == ["opened"]
        assert [await call_add(toolset), await call_add(toolset)] == [1, 2]
        assert (await toolset.registry.call_tool("plain")).result == 2
        assert toolset.events == ["opened"]
    assert toolset.events == ["opened", "closed"]


async def test_registry_entered_twice_ends_its_lifespan_only_at_the_outer_exit(
    toolset: Toolset,
) -> None:
    async with toolset.registry:
        async with toolset.registry:
            await call_add(toolset)
        assert toolset.events == ["opened"]
        assert await call_add(toolset) == 2
    assert toolset.events == ["opened", "closed"]


async def test_tool_call_after_the_lifespan_ended_is_refused_until_the_registry_is_reentered(
    toolset: Toolset, caplog: pytest.LogCaptureFixture
) -> None:
    async with toolset.registry:
        await call_add(toolset)
    response = await toolset.registry.call_tool("plain")
    assert response.error == (
        "the tool `plain` is not available: its dependencies cannot be opened; the log has the"
        " details"
    )
    assert "has ended; start it again with `async with REGISTRY`" in caplog.text
    async with toolset.registry:
        assert await call_add(toolset) == 1
    assert toolset.events == ["opened", "closed"] * 2


def test_first_tool_call_starts_one_lifespan_for_all_loops(toolset: Toolset) -> None:
    assert asyncio.run(call_add(toolset)) == 1
    assert asyncio.run(call_add(toolset)) == 2
    assert toolset.registry.call_tool_sync("plain").result == 2
    assert toolset.events == ["opened"]


SLOW_START = """
    opened = lifespan

    @asynccontextmanager
    async def lifespan():
        await asyncio.sleep(0.1)
        async with opened() as dependencies:
            yield dependencies
"""


def test_concurrent_first_tool_calls_start_one_lifespan(make_toolset: Make) -> None:
    toolset = make_toolset(SLOW_START)
    results: list[Any] = []

    async def calls() -> None:
        results.extend(await asyncio.gather(*(call_add(toolset) for _ in range(20))))

    threads = [threading.Thread(target=asyncio.run, args=[calls()]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(1, 81))
    assert toolset.events == ["opened"]


async def test_cancelled_first_tool_call_does_not_cancel_the_lifespan_start(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(SLOW_START)
    first = asyncio.ensure_future(call_add(toolset))
    second = asyncio.ensure_future(call_add(toolset))
    await asyncio.sleep(0.03)
    first.cancel()
    assert await second == 1
    assert toolset.events == ["opened"]


WHERE = """
    import os

    async def where(*, db):
        return id(asyncio.get_running_loop())

    async def progress(*, db):
        from toolcast_runtime import current_call
        await current_call().progress(1, 2, "half")
        return "done"
"""
NOTHING = {"type": "object"}


async def test_tool_calls_from_other_threads_run_in_the_lifespans_event_loop(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(WHERE, where=NOTHING)
    call = toolset.registry.call_tool_sync
    async with toolset.registry:
        here = id(asyncio.get_running_loop())
        assert (await toolset.registry.call_tool("where")).result == here
        assert (await asyncio.to_thread(call, "where")).result == here


async def test_sync_tool_call_that_blocks_the_lifespans_event_loop_is_refused(
    toolset: Toolset, caplog: pytest.LogCaptureFixture
) -> None:
    async with toolset.registry:
        response = toolset.registry.call_tool_sync("plain")
    assert response.error is not None
    problem = "runs in the event loop that this sync call blocks; await the call"
    assert problem in caplog.text


async def test_tool_progress_is_reported_in_the_callers_event_loop(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(WHERE, progress=NOTHING)
    reports: list[Any] = []

    async def report(*progress: Any) -> None:
        reports.append((asyncio.get_running_loop(), *progress))

    response = await toolset.registry.call_tool("progress", report_progress=report)
    assert response.result == "done"
    assert reports == [(asyncio.get_running_loop(), 1, 2, "half")]


def test_lifespan_ends_with_its_event_loop_and_can_restart(toolset: Toolset) -> None:
    async def enter() -> None:
        await toolset.registry.__aenter__()
        await call_add(toolset)

    asyncio.run(enter())
    assert toolset.events == ["opened", "closed"]
    assert asyncio.run(call_add(toolset)) == 1
    assert toolset.events == ["opened", "closed", "opened"]


def test_tool_call_is_refused_if_the_lifespans_event_loop_is_stopped(
    toolset: Toolset, caplog: pytest.LogCaptureFixture
) -> None:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(toolset.registry.__aenter__())
    response = toolset.registry.call_tool_sync("plain")
    loop.run_until_complete(toolset.registry.__aexit__())
    loop.close()
    assert response.error is not None
    assert "was started in an event loop that is no longer running" in caplog.text
    assert toolset.events == ["opened", "closed"]


async def test_registries_with_the_same_lifespan_function_share_one_lifespan_run(
    toolset: Toolset,
) -> None:
    other = toolset.make_registry()
    async with toolset.registry:
        await call_add(toolset)
        async with other:
            assert (await other.call_tool("plain")).result == 1
        assert await call_add(toolset) == 2
        assert toolset.events == ["opened"]
        await other.__aenter__()
    assert toolset.events == ["opened"]
    assert (await other.call_tool("plain")).result == 2
    await other.__aexit__()
    assert toolset.events == ["opened", "closed"]


PLAIN = """
    import sqlite3

    @contextmanager
    def lifespan():
        events.append("opened")
        entered = threading.current_thread()
        assert entered.daemon, "a hanging lifespan would prevent the process's exit"
        connection = sqlite3.connect(":memory:")
        try:
            yield {"db": Database()}
        finally:
            events.append("closed")
            # Only the thread that made it may do so.
            connection.close()
            assert threading.current_thread() is entered
"""


async def test_registry_opens_and_closes_a_sync_lifespan(make_toolset: Make) -> None:
    toolset = make_toolset(PLAIN)
    async with toolset.registry:
        assert await call_add(toolset) == 1
    assert toolset.events == ["opened", "closed"]


def test_sync_generator_lifespan_ends_with_the_event_loop_that_entered_it(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(PLAIN)
    asyncio.run(toolset.registry.__aenter__())
    assert toolset.events == ["opened", "closed"]


async def test_lifespan_can_contain_a_task_group(make_toolset: Make) -> None:
    toolset = make_toolset("""
        import anyio

        @asynccontextmanager
        async def lifespan():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.sleep_forever)
                yield {"db": Database()}
                tasks.cancel_scope.cancel()
            events.append("closed")
    """)
    async with toolset.registry:
        await call_add(toolset)
    assert toolset.events == ["closed"]


async def test_lifespan_that_failed_while_running_is_restarted_by_the_next_tool_call(
    make_toolset: Make, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = make_toolset(
        """
        import anyio

        async def watch(broken):
            await broken.wait()
            raise OSError("the connection is lost")

        @asynccontextmanager
        async def lifespan():
            events.append("opened")
            async with anyio.create_task_group() as tasks:
                db = Database()
                db.broken = asyncio.Event()
                tasks.start_soon(watch, db.broken)
                yield {"db": db}
                tasks.cancel_scope.cancel()

        async def cut(*, db):
            db.broken.set()
    """,
        cut={"type": "object"},
    )
    async with toolset.registry:
        assert await call_add(toolset) == 1
        await toolset.registry.call_tool("cut")
        await asyncio.sleep(0.05)
        assert "failed while running" in caplog.text
        assert "the connection is lost" in caplog.text
        assert await call_add(toolset) == 1
    assert toolset.events == ["opened", "opened"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no forks")
def test_forked_child_process_starts_its_own_lifespan(toolset: Toolset) -> None:
    asyncio.run(call_add(toolset))
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        count = asyncio.run(call_add(toolset))
        lifespan._stop_all_runs()
        os.write(writing, f"{count} {' '.join(toolset.events)}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        assert stream.read() == "1 opened opened closed"
    assert asyncio.run(call_add(toolset)) == 2
    assert toolset.events == ["opened"]


@pytest.mark.parametrize("word", ["async ", ""])
async def test_lifespan_start_that_exceeds_its_timeout_raises_lifespan_error(
    make_toolset: Make, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifespan, "START_TIMEOUT_S", 0.1)
    wait = "await asyncio.sleep(60)" if word else "threading.Event().wait(60)"
    decorator = "asynccontextmanager" if word else "contextmanager"
    toolset = make_toolset(f"""
        @{decorator}
        {word}def lifespan():
            {wait}
            yield {{}}
    """)
    with pytest.raises(LifespanError) as failed:
        await toolset.registry.__aenter__()
    name = toolset.package.name
    assert str(failed.value) == (
        f"the lifespan of `{name}` ({name}.work:lifespan) failed to start: it has not"
        " started within 0.1 seconds"
    )


async def test_lifespan_end_that_exceeds_its_timeout_is_cancelled_and_logged(
    make_toolset: Make, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(lifespan, "STOP_TIMEOUT_S", 0.1)
    toolset = make_toolset("""
        @asynccontextmanager
        async def lifespan():
            yield {"db": Database()}
            try:
                await asyncio.sleep(60)
            finally:
                events.append("cancelled")
    """)
    async with toolset.registry:
        await call_add(toolset)
    assert toolset.events == ["cancelled"]
    assert "did not end within 0.1 seconds" in caplog.text


async def test_error_when_a_lifespan_ends_is_logged(
    make_toolset: Make, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = make_toolset("""
        @asynccontextmanager
        async def lifespan():
            yield {"db": Database()}
            raise OSError("the disk is full")
    """)
    async with toolset.registry:
        await call_add(toolset)
    assert "failed while stopping" in caplog.text
    assert "the disk is full" in caplog.text


async def test_failed_lifespan_start_error_names_function_exception_and_line(
    make_toolset: Make, caplog: pytest.LogCaptureFixture
) -> None:
    toolset = make_toolset("""
        tries = []

        def connect():
            tries.append(1)
            if len(tries) < 3:
                raise ConnectionError("nobody answers")
            return Database()

        @asynccontextmanager
        async def lifespan():
            yield {"db": connect()}
    """)
    with pytest.raises(LifespanError) as failed:
        await toolset.registry.__aenter__()
    file, name = toolset.work.__file__, toolset.package.name
    line = toolset.work.connect.__code__.co_firstlineno + 3
    assert str(failed.value) == (
        f"the lifespan of `{name}` ({name}.work:lifespan) failed to start:"
        f" ConnectionError: nobody answers ({file}:{line}, in connect)"
    )
    response = await toolset.registry.call_tool("plain")
    assert response.error is not None and "nobody" not in response.error
    assert "tool plain: the lifespan of" in caplog.text
    # The next call tries to start the lifespan again.
    assert await call_add(toolset) == 1


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("@contextmanager\ndef lifespan(): yield {}", "it does not yield `db`"),
        (
            "async def lifespan(): yield {'db': 1}",
            "must return a context manager, not `async_generator`; decorate it with"
            " `@contextlib.asynccontextmanager`",
        ),
        (
            "def lifespan(): yield {'db': 1}",
            "must return a context manager, not `generator`; decorate it with"
            " `@contextlib.contextmanager`",
        ),
        ("from contextlib import nullcontext as lifespan", "outside of"),
        ("del lifespan", "has no attribute 'lifespan'"),
    ],
)
async def test_invalid_lifespan_function_raises_lifespan_error_when_the_registry_is_entered(
    make_toolset: Make, source: str, problem: str
) -> None:
    toolset = make_toolset()
    path = toolset.work.__file__
    assert path is not None
    exec(compile(source, path, "exec"), toolset.work.__dict__)
    with pytest.raises(LifespanError) as failed:
        await toolset.registry.__aenter__()
    assert problem in str(failed.value)


def test_sync_with_statement_on_a_registry_opens_and_closes_the_lifespan(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(WHERE, where=NOTHING)
    call = toolset.registry.call_tool_sync
    with toolset.registry as registry, registry:
        assert registry is toolset.registry
        assert toolset.events == ["opened"]
        assert call("add", {"text": "a"}).result == 1
        # Calls from an event loop also work.
        assert asyncio.run(call_add(toolset)) == 2
    assert toolset.events == ["opened", "closed"]
    assert call("add", {"text": "a"}).error is not None
    with pytest.raises(ZeroDivisionError), toolset.registry:
        assert call("add", {"text": "a"}).result == 1
        raise ZeroDivisionError
    assert toolset.events == ["opened", "closed"] * 2


def test_sync_with_statement_on_a_registry_raises_the_failed_lifespan_start_error(
    make_toolset: Make,
) -> None:
    toolset = make_toolset("""
        @asynccontextmanager
        async def lifespan():
            raise ConnectionError("nobody answers")
            yield
    """)
    with pytest.raises(LifespanError, match="nobody answers"), toolset.registry:
        pass


async def test_cancelled_attempt_to_enter_a_registry_does_not_end_the_lifespan_for_others(
    make_toolset: Make,
) -> None:
    toolset = make_toolset(SLOW_START)
    first = asyncio.ensure_future(toolset.registry.__aenter__())
    second = asyncio.ensure_future(toolset.registry.__aenter__())
    await asyncio.sleep(0.03)
    first.cancel()
    await second
    assert await call_add(toolset) == 1
    await toolset.registry.__aexit__()
    assert toolset.events == ["opened", "closed"]

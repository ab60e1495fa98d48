"""A toolset by itself: its lifespan, its providers, and what it closes."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

from generated.molecule.registry import REGISTRY
from toolcast_runtime.core import context as contexts
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.toolset import Toolset


def _toolset(**given: Any) -> Any:
    made = copy.copy(REGISTRY.toolsets[0])
    made.__dict__.pop("calls", None)
    made.providers, made.lifespan, made._dependencies = (), None, None
    vars(made).update(given)
    return made


class Dependencies:
    def __init__(self, fails: bool = False) -> None:
        self.log: list[str] = []
        self.fails, self.has_ended, self.is_up, self.is_disabled = (
            fails,
            False,
            True,
            False,
        )

    async def enter(self) -> None:
        self.log.append("enter")
        if self.fails:
            raise ValueError("it cannot be opened")

    async def leave(self) -> None:
        self.log.append("over" if self.has_ended else "leave")


async def test_the_last_who_leaves_ends_what_the_first_began(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited: list[float] = []

    async def until_ended(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(worker_threads, "wait_for_abandoned", until_ended)
    opened = Dependencies()
    made: Toolset = _toolset(lifespan=object(), _dependencies=opened)
    await made.enter()
    await made.enter()
    await made.leave()
    assert (opened.log, waited) == (["enter", "enter"], [])
    await made.leave()
    assert (opened.log, waited) == (["enter", "enter", "over"], [1.0])


async def test_what_cannot_be_opened_is_left() -> None:
    opened = Dependencies(fails=True)
    made: Toolset = _toolset(lifespan=object(), _dependencies=opened)
    for _ in range(2):
        with pytest.raises(ValueError, match="it cannot be opened"):
            await made.enter()
    assert opened.log == ["enter", "leave"] * 2


@pytest.mark.parametrize(
    ("lifespan", "left_out", "is_up", "expected"),
    [
        (None, False, False, True),
        (object(), True, False, True),
        (object(), False, False, False),
        (object(), False, True, True),
    ],
)
async def test_a_lifespan_is_up_or_not_needed(
    lifespan: Any, left_out: bool, is_up: bool, expected: bool
) -> None:
    opened = Dependencies()
    opened.is_up = is_up
    made: Toolset = _toolset(lifespan=lifespan, _dependencies=opened)
    made.is_lifespan_disabled = left_out
    assert made.is_lifespan_started is expected
    await made.enter()
    assert opened.log == (["enter"] if lifespan and not left_out else [])


class Provider:
    has_always_tools = False

    def __init__(self, *names: str, meant: bool = True, known: str = "") -> None:
        self.tools = [SimpleNamespace(name=name, always=name == "a") for name in names]
        self.meant, self.known = meant, known or "".join(names)

    def can_provide(self, name: str) -> bool:
        return name in self.known

    def is_available_to(self, name: str, client: Any) -> bool:
        return self.meant

    async def list_tools(self, wanted: Any) -> Any:
        return self.tools

    async def find_tool(self, name: str) -> Any:
        return next((tool for tool in self.tools if tool.name == name), None)


async def test_a_tool_is_of_the_first_provider_that_has_it() -> None:
    first = Provider("a", meant=False)
    second, third = Provider("b", known="ab"), Provider("a", "b", "c")
    made: Toolset = _toolset(providers=(first, second, third))
    made._access = SimpleNamespace(  # type: ignore[assignment]
        is_allowed=lambda _, name: name != "c", get_lists=lambda _: (None, frozenset())
    )
    for name, whose in (("a", third), ("b", second), ("c", None), ("d", None)):
        found = await made.find_remote_tool(name, None)
        assert (found and found.provider) is whose
    listed = await made.list_remote_tools(None, is_always=False)
    assert [tool.name for tool in listed] == ["b", "a", "b"]
    assert await made.list_remote_tools(None, is_always=True) == []
    third.has_always_tools = True
    listed = await made.list_remote_tools(None, is_always=True)
    assert [tool.name for tool in listed] == ["a"]
    assert [tool.name for tool in await made.list_named_tools(["c"])] == ["a", "b", "c"]
    assert made._is_known("c") and not made._is_known("d")


def test_a_call_ends_later_where_a_person_takes_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 50.0)
    monkeypatch.setattr(contexts, "time", clock)
    context = CallContext("look")
    assert context.deadline is None
    context.questions = SimpleNamespace(waiting_seconds=7.0)  # type: ignore[assignment]
    assert context.deadline is None
    context.start_timeout(10)
    assert context.deadline == 67.0
    context.questions = None
    assert context.deadline == 60.0


def test_what_a_handler_waits_for_is_cancelled_with_its_call() -> None:
    class Future:
        cancelled = 0

        def cancel(self) -> None:
            self.cancelled += 1

    context, early, late, over = CallContext("look"), Future(), Future(), Future()
    with context.track_future(over):  # type: ignore[arg-type]
        pass
    with context.track_future(early):  # type: ignore[arg-type]
        context.cancel()
        with context.track_future(late):  # type: ignore[arg-type]
            pass
    assert (early.cancelled, late.cancelled, over.cancelled) == (1, 1, 0)

"""Toolset: lifespan, providers of remote tools, and call deadlines and cancellation."""

from __future__ import annotations

import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from generated.molecule.registry import REGISTRY
from tests.runtime.packages import Package, definition
from toolcast_runtime.core import context as contexts
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.toolset import Toolset


def _make_toolset(**attributes: Any) -> Any:
    toolset = copy.copy(REGISTRY.toolsets[0])
    toolset.__dict__.pop("calls", None)
    toolset.providers, toolset.lifespan, toolset._dependencies = (), None, None
    vars(toolset).update(attributes)
    return toolset


class Dependencies:
    """Dependencies that log when they are entered and left."""

    def __init__(self, fails: bool = False) -> None:
        self.log: list[str] = []
        self.fails, self.is_up = fails, True
        self.has_ended = self.is_disabled = False

    async def enter(self) -> None:
        self.log.append("enter")
        if self.fails:
            raise ValueError("it cannot be opened")

    async def leave(self) -> None:
        self.log.append("over" if self.has_ended else "leave")


async def test_toolset_lifespan_entered_twice_ends_when_it_is_left_the_second_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It then waits up to one second for abandoned worker threads."""
    timeouts: list[float] = []

    async def wait_for_abandoned(seconds: float) -> None:
        timeouts.append(seconds)

    monkeypatch.setattr(worker_threads, "wait_for_abandoned", wait_for_abandoned)
    dependencies = Dependencies()
    toolset: Toolset = _make_toolset(lifespan=object(), _dependencies=dependencies)
    await toolset.enter()
    await toolset.enter()
    await toolset.leave()
    assert (dependencies.log, timeouts) == (["enter", "enter"], [])
    await toolset.leave()
    assert (dependencies.log, timeouts) == (["enter", "enter", "over"], [1.0])


async def test_failed_toolset_lifespan_start_is_undone_and_can_be_retried() -> None:
    dependencies = Dependencies(fails=True)
    toolset: Toolset = _make_toolset(lifespan=object(), _dependencies=dependencies)
    for _ in range(2):
        with pytest.raises(ValueError, match="it cannot be opened"):
            await toolset.enter()
    assert dependencies.log == ["enter", "leave"] * 2


async def test_failed_toolset_lifespan_start_does_not_end_an_entered_lifespan() -> None:
    dependencies = Dependencies()
    toolset: Toolset = _make_toolset(lifespan=object(), _dependencies=dependencies)
    await toolset.enter()
    dependencies.fails = True
    with pytest.raises(ValueError, match="it cannot be opened"):
        await toolset.enter()
    assert dependencies.log == ["enter", "enter"]


@pytest.mark.parametrize(
    ("handlers", "formats", "expected"),
    [
        ("hands", "assertion", True),
        ("hands", "annotation", False),
        (None, "assertion", False),
    ],
)
def test_toolset_asserts_formats_only_with_a_handlers_package_and_formats_assertion(
    handlers: str | None, formats: Any, expected: bool, tmp_path: Path
) -> None:
    tools = Package(tmp_path, definition("note")).load()
    toolset = Toolset(tools, handlers=handlers, formats=formats)
    assert toolset.asserts_formats is expected


@pytest.mark.parametrize(
    ("clients", "expected"), [({"desk": Client()}, ["desk"]), (None, [None])]
)
def test_toolset_has_client_is_true_only_for_its_clients_or_for_none_without_clients(
    clients: Any, expected: list[str | None], tmp_path: Path
) -> None:
    toolset = Toolset(Package(tmp_path, definition("note")).load(), clients=clients)
    assert toolset.has_clients is (clients is not None)
    assert [
        name for name in ("desk", "x", None) if toolset.has_client(name)
    ] == expected


@pytest.mark.parametrize(
    ("lifespan", "is_disabled", "is_up", "expected"),
    [
        (None, False, False, True),
        (object(), True, False, True),
        (object(), False, False, False),
        (object(), False, True, True),
    ],
)
async def test_toolset_lifespan_counts_as_started_if_it_is_up_disabled_or_not_declared(
    lifespan: Any, is_disabled: bool, is_up: bool, expected: bool
) -> None:
    """Dependencies are entered only for a declared lifespan that is not disabled."""
    dependencies = Dependencies()
    dependencies.is_up = is_up
    toolset: Toolset = _make_toolset(lifespan=lifespan, _dependencies=dependencies)
    toolset.is_lifespan_disabled = is_disabled
    assert toolset.is_lifespan_started is expected
    await toolset.enter()
    assert dependencies.log == (["enter"] if lifespan and not is_disabled else [])


class Provider:
    """Provider of tools with these names, which may know further names."""

    has_always_tools = False

    def __init__(self, *names: str, available: bool = True, known: str = "") -> None:
        self.tools = [SimpleNamespace(name=name, always=name == "a") for name in names]
        self.available, self.known = available, known or "".join(names)

    def can_provide(self, name: str) -> bool:
        return name in self.known

    def is_available_to(self, name: str, client: Any) -> bool:
        return self.available

    async def list_tools(self, wanted: Any) -> Any:
        return self.tools

    async def find_tool(self, name: str) -> Any:
        return next((tool for tool in self.tools if tool.name == name), None)


async def test_toolset_finds_remote_tool_at_first_available_provider_with_it() -> None:
    """Tools that access denies are found by `list_named_tools` only."""
    first = Provider("a", available=False)
    second, third = Provider("b", known="ab"), Provider("a", "b", "c")
    toolset: Toolset = _make_toolset(providers=(first, second, third))
    toolset._access = SimpleNamespace(  # type: ignore[assignment]
        is_allowed=lambda _, name: name != "c", get_lists=lambda _: (None, frozenset())
    )
    for name, provider in (("a", third), ("b", second), ("c", None), ("d", None)):
        match = await toolset.find_remote_tool(name, None)
        assert (match and match.provider) is provider
    tools = await toolset.list_remote_tools(None, is_always=False)
    assert [tool.name for tool in tools] == ["b", "a", "b"]
    assert await toolset.list_remote_tools(None, is_always=True) == []
    third.has_always_tools = True
    tools = await toolset.list_remote_tools(None, is_always=True)
    assert [tool.name for tool in tools] == ["a"]
    tools = await toolset.list_named_tools(["c"])
    assert [tool.name for tool in tools] == ["a", "b", "c"]
    assert toolset._is_known("c") and not toolset._is_known("d")


def test_call_deadline_is_extended_by_the_time_in_which_the_user_answers_questions(
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


def test_cancelled_call_cancels_the_futures_that_its_handler_waits_for() -> None:
    """Futures that are tracked later are cancelled at once; finished waits are not."""
    context = CallContext("look")
    early, late, finished = Mock(), Mock(), Mock()
    with context.track_future(finished):
        pass
    with context.track_future(early):
        context.cancel()
        with context.track_future(late):
            pass
    counts = [future.cancel.call_count for future in (early, late, finished)]
    assert counts == [1, 1, 0]

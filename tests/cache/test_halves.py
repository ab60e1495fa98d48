"""So many files that two processes look at them are looked at as few are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolcast.cache import halves as tested
from toolcast.cache import look
from toolcast.cache.halves import both, halves
from toolcast.cache.look import is_same, look_at
from toolcast.cache.seen import Watched


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runner's own threads do not count."""
    monkeypatch.setattr(tested, "_can_split", lambda: True)


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The processes that were made."""
    made: list[int] = []
    fork = os.fork

    def noted() -> int:
        child = fork()
        made.append(child)
        return child

    monkeypatch.setattr(os, "fork", noted)
    yield made


@pytest.mark.parametrize("weights", [[], [5], [1, 1], [9, 3, 3, 3], [100, 1, 1, 1]])
def test_both_halves_have_everything_and_weigh_about_the_same(
    weights: list[int],
) -> None:
    first, second = halves(weights, lambda weight: weight)
    assert sorted(first + second) == sorted(weights)
    assert abs(sum(first) - sum(second)) <= max(weights, default=0)


@pytest.mark.parametrize(
    ("first", "second", "is_so"),
    [([1], [2], True), ([0], [2], False), ([1], [0], False), ([], [], True)],
)
def test_what_holds_must_hold_in_both(
    first: list[int], second: list[int], is_so: bool, forks: list[int]
) -> None:
    assert both(lambda items: all(items), first, second) is is_so
    assert len(forks) == 1


def test_a_half_that_comes_to_nothing_is_no_yes() -> None:
    parent = os.getpid()

    def holds(_: list[int]) -> bool:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    assert both(holds, [], []) is False

    def raises(_: list[int]) -> bool:
        if os.getpid() != parent:
            raise KeyboardInterrupt
        return True

    assert both(raises, [], []) is False


def test_children_that_the_system_takes_leave_of_are_heard() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert both(lambda _: True, [], []) is True
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_changes_in_either_half_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: list[int]
) -> None:
    monkeypatch.setattr(look, "MANY", 4)
    for folder in ("a", "b", "c"):
        (tmp_path / "out" / folder).mkdir(parents=True)
        for name in ("x", "y"):
            (tmp_path / "out" / folder / name).write_text(name, "utf-8")
    seen = look_at(str(tmp_path), Watched([], [], ["out"]))
    assert is_same(str(tmp_path), seen)
    assert len(forks) == 1
    for folder in ("a", "b", "c"):
        changed = tmp_path / "out" / folder / "x"
        changed.write_text("other", "utf-8")
        assert not is_same(str(tmp_path), seen), folder
        seen = look_at(str(tmp_path), Watched([], [], ["out"]))

"""Single faults in each request of an apply: a second apply completes it without losses."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from letta.tests.fake_letta import Fault
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.state.baseline import Baselines
from toolcast_letta.v1.api import LettaError


@pytest.fixture(autouse=True)
def short_retry_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the delay before the library repeats a read."""
    monkeypatch.setattr("letta_client._base_client.INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr("letta_client._base_client.MAX_RETRY_DELAY", 0.01)


def prepare_first_apply(toy: Any) -> None:
    """Prepare nothing, so that the first apply is tested."""


def prepare_all_changes(toy: Any) -> None:
    """Prepare a renamed, a removed, a changed and an approved tool."""
    toy.apply()
    toy.world.find_tool("delete_note").default_requires_approval = True
    toy.rename("search_notes", "find_notes")
    toy.remove("end_day")
    toy.project.edit("specs/toy/delete_note.yaml", "The note.", "The note's number.")
    toy.deploy()


def prepare_refresh(toy: Any) -> None:
    """Prepare a change that a refresh carries out."""
    toy.apply()
    toy.project.edit("specs/toy/delete_note.yaml", "The note.", "The note's number.")
    toy.deploy()


PREPARATIONS = [prepare_first_apply, prepare_all_changes, prepare_refresh]


class AgentWatch:
    """The tools and rules that the agent must have before or after an apply."""

    def __init__(self, toy: Any, plan: Any) -> None:
        agent = toy.world.agents[toy.agent_id]
        self.toy = toy
        self.names = set(toy.names())
        self.rules = [dict(rule) for rule in agent.tool_rules]
        self.after = set(plan.agents[0].tools_after)
        self.rules_after = [dict(rule) for rule in plan.agents[0].rules_after]

    def assert_nothing_is_lost(self) -> None:
        """Check that the agent has either all previous or all planned tools and rules."""
        agent = self.toy.world.agents[self.toy.agent_id]
        names = set(self.toy.names())
        assert names in (self.names, self.after)
        have = {(rule["tool_name"], rule["type"]) for rule in agent.tool_rules}
        before = {(rule["tool_name"], rule["type"]) for rule in self.rules}
        after = {(rule["tool_name"], rule["type"]) for rule in self.rules_after}
        assert have in (before, after)
        assert (names == self.after) <= (have == after), "both in one request"


def count_requests(reads_too: bool) -> Callable[[str, str], bool]:
    """Return a filter for requests; repeated reads have no effect."""
    return lambda method, path: reads_too or method != "GET"


def measure_requests(
    make_toy: Callable[..., Any], prepare: Callable[..., Any], *, reads_too: bool
) -> int:
    toy = make_toy()
    prepare(toy)
    plan = toy.plan()
    toy.fake.faults.reset()
    toy.apply(plan)
    seen = [item for item in toy.fake.faults.seen if count_requests(reads_too)(*item)]
    assert len(seen) >= (10 if reads_too else 1)
    return len(seen)


def _list_cases() -> Iterator[Any]:
    """Yield every fault with every preparation; hanging requests are slow."""
    for fault in Fault:
        for prepare in PREPARATIONS:
            is_slow = fault.name.startswith("HANG") or prepare is PREPARATIONS[-1]
            marks = [pytest.mark.slow] if is_slow else []
            name = f"{fault.name}-{prepare.__name__}"
            yield pytest.param(fault, prepare, marks=marks, id=name)


@pytest.mark.parametrize(("fault", "prepare"), list(_list_cases()))
@pytest.mark.timeout(300)
def test_second_letta_apply_completes_after_any_request_failed_once(
    make_toy: Callable[..., Any], fault: Fault, prepare: Callable[..., Any]
) -> None:
    reads_too = fault in (Fault.ERROR_BEFORE, Fault.HANG_BEFORE)
    for number in range(measure_requests(make_toy, prepare, reads_too=reads_too)):
        toy = make_toy()
        prepare(toy)
        plan = toy.plan()
        watch = AgentWatch(toy, plan)
        toy.fake.faults.reset()
        toy.fake.faults.at[number] = fault
        toy.fake.faults.counts = count_requests(reads_too)
        # Hanging requests have a short timeout.
        with contextlib.suppress(LettaError, PlanRefusedError):
            toy.apply(plan, timeout=0.25 if fault.name.startswith("HANG") else 5.0)
        where = f"request {number} of {list(toy.fake.faults.seen)}"
        toy.fake.faults.reset()
        watch.assert_nothing_is_lost()
        done = toy.apply(plan)
        assert done.missed == (), where
        assert set(toy.names()) == watch.after, where
        assert toy.verify().all_match, where
        rules = toy.rules()
        assert ("their_tool", "max_count_per_step") in rules, where
        kept = toy.world.find_tool("delete_note").default_requires_approval
        assert kept is (True if prepare is prepare_all_changes else None), where


@pytest.mark.parametrize("prepare", PREPARATIONS)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process of its own")
@pytest.mark.timeout(300)
def test_second_letta_apply_completes_after_the_process_was_killed_at_any_request(
    make_toy: Callable[..., Any], prepare: Callable[..., Any]
) -> None:
    for number in range(measure_requests(make_toy, prepare, reads_too=True)):
        toy = make_toy()
        prepare(toy)
        plan = toy.plan()
        watch = AgentWatch(toy, plan)
        toy.fake.faults.reset()
        killed: list[int] = []
        child = apply_and_kill(toy, plan, number, killed)
        assert killed == [child], f"request {number} was not reached"
        toy.fake.faults.reset()
        watch.assert_nothing_is_lost()
        toy.apply(plan)
        assert set(toy.names()) == watch.after
        assert toy.verify().all_match
        for baseline in Baselines(toy.state).list_all("toy", toy.fake.url)[-1:]:
            assert (
                set(baseline.agents[0].tools) == watch.names
            ), "the first baseline is kept"


def apply_and_kill(toy: Any, plan: Any, number: int, killed: list[int]) -> int:
    """Apply in a child process that is killed at its n-th request."""
    ready, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        with contextlib.suppress(BaseException):
            toy.apply(plan)
        os._exit(0)

    def kill(method: str, path: str) -> None:
        if len(toy.fake.faults.seen) == number + 1:
            killed.append(child)
            os.kill(child, signal.SIGKILL)

    toy.fake.faults.before = kill
    os.close(ready)
    os.write(go, b"x")
    os.close(go)
    os.waitpid(child, 0)
    # The server still completes the request during which the child was killed.
    toy.fake.settle()
    return child

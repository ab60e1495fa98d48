"""What an agent had of others' tools when a baseline was made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.plan.current_state import AgentState
from toolcast_letta.v1.server_backend import _with_baseline

STATE = AgentState("agent-1", "me", "letta_v1_agent", {}, ())
DESIRED: Any = SimpleNamespace(tools={"own": 1}, removed_names=("old",))


def baseline(saved: str, agent: str = "agent-1", *tools: str) -> Any:
    before = SimpleNamespace(tools_after=tools)
    return SimpleNamespace(
        saved=saved,
        agent=lambda asked: before if asked == agent else None,
        registry={"kept": 1},
        renamed={"was": "now"},
    )


@pytest.mark.parametrize(
    ("kept", "had", "at"),
    [
        ([], (), ""),
        ([baseline("2026-01-02T03:04:05.678901+00:00", "agent-2", "x")], (), ""),
        (
            [
                baseline("2025-01-02T03:04:05.678901+00:00", "agent-1", "y"),
                baseline(
                    "2026-01-02T03:04:05.678901+00:00",
                    "agent-1",
                    "x",
                    "own",
                    "old",
                    "kept",
                    "now",
                    "was",
                ),
                baseline("2027-01-02T03:04:05.678901+00:00", "agent-2", "z"),
            ],
            ("x", "was"),
            "2026-01-02T03:04:05Z",
        ),
    ],
)
def test_the_newest_baseline_of_the_agent_counts(
    kept: list[Any], had: tuple[str, ...], at: str
) -> None:
    found = _with_baseline(STATE, DESIRED, kept)
    assert (found.had, found.had_at) == (had, at)

"""What may stand in a log by its repr shows no token and no settings of servers."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_letta.code.kept_entries import KeptEntry
from toolcast_letta.plan.current_state import AgentState
from toolcast_letta.plan.desired_state import DesiredState

SECRET = {"token": "s3cret"}


@pytest.mark.parametrize(
    "value",
    [
        DesiredState("toys", "toys", "http://a", "s3cret", {}, ()),
        AgentState("1", "me", "memgpt_agent", {}, (), servers=(SECRET,)),
        KeptEntry("me", "1", None, "toys", SECRET),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_repr_shows_no_secret(value: Any) -> None:
    assert "s3cret" not in repr(value)
    assert type(value).__name__ in repr(value)

"""Two-step deletion: a confirmation is valid for one target, once, for a limited time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from examples.ren import confirmations
from generated.ren.registry import call_tool_sync
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call

INVALID_CONFIRMATION = "This confirmation is not valid"


@pytest.fixture
def card(call: Call) -> int:
    number: int = call("create_notecard", text="Keep me.")["notecard_id"]
    return number


def request_confirmation(call: Call, card: int) -> dict[str, Any]:
    offer = call("delete_notecard", notecard_id=card)
    return {"confirmed": True, "confirmation": offer["confirmation"]}


def test_delete_notecard_tool_requires_both_confirmed_and_confirmation_arguments(
    call: Call, call_for_error: Any, card: int
) -> None:
    """Return the `confirmation` from a first call that deletes nothing."""
    error = call_for_error("delete_notecard", notecard_id=card, confirmed=True)
    assert error.startswith("`confirmed` needs the `confirmation`")
    assert not call("delete_notecard", notecard_id=card)["deleted"]
    assert not call("delete_notecard", notecard_id=card, confirmed=False)["deleted"]
    confirmation = request_confirmation(call, card)["confirmation"]
    error = call_for_error(
        "delete_notecard", notecard_id=card, confirmation=confirmation
    )
    assert error == "`confirmation` without `confirmed: true` deletes nothing."
    assert call("list_notecards")["notecards"][0]["notecard_id"] == card


def test_delete_notecard_tool_rejects_a_confirmation_issued_for_another_notecard(
    call: Call, call_for_error: Any, card: int
) -> None:
    other = call("create_notecard", text="Keep me, too.")["notecard_id"]
    confirmed_arguments = request_confirmation(call, card)
    assert INVALID_CONFIRMATION in call_for_error(
        "delete_notecard", notecard_id=other, **confirmed_arguments
    )
    assert call("delete_notecard", notecard_id=card, **confirmed_arguments)["deleted"]


def test_delete_notecard_tool_rejects_a_confirmation_after_the_notecard_changed(
    call: Call, call_for_error: Any, card: int
) -> None:
    confirmed_arguments = request_confirmation(call, card)
    call("update_notecard", notecard_id=card, text="Something else.")
    assert INVALID_CONFIRMATION in call_for_error(
        "delete_notecard", notecard_id=card, **confirmed_arguments
    )


def test_delete_notecard_tool_rejects_an_expired_confirmation(
    call: Call, call_for_error: Any, card: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmations, "VALID_FOR", timedelta(seconds=-1))
    confirmed_arguments = request_confirmation(call, card)
    assert INVALID_CONFIRMATION in call_for_error(
        "delete_notecard", notecard_id=card, **confirmed_arguments
    )


def test_delete_archival_passage_confirmation_is_valid_for_a_single_concurrent_call(
    call: Call, letta: FakeLetta
) -> None:
    offer = call("delete_archival_passage", passage_id="passage-1")
    arguments = {
        "passage_id": "passage-1",
        "confirmed": True,
        "confirmation": offer["confirmation"],
    }
    with ThreadPoolExecutor(8) as pool:
        responses = list(
            pool.map(
                lambda _: call_tool_sync("delete_archival_passage", arguments, "ren"),
                range(8),
            )
        )
    assert [r.error is None for r in responses].count(True) == 1
    (agent,) = letta.world.agents.values()
    assert list(agent.passages) == ["passage-7"]


def test_delete_t4_entry_tool_rejects_a_confirmation_after_an_entry_was_added(
    call: Call, call_for_error: Any
) -> None:
    kind = {"project_slug": "importer", "entry_type": "brainstorm"}
    call("write_t4_entry", content="One.", **kind)
    offer = call("delete_t4_entry", **kind)
    call("write_t4_entry", content="Two.", **kind)
    done = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert INVALID_CONFIRMATION in call_for_error("delete_t4_entry", **kind, **done)
    assert len(call("get_t4_entry", **kind)["entries"]) == 2
    offer = call("delete_t4_entry", **kind)
    assert len(offer["entry_ids"]) == 2
    done = {"confirmed": True, "confirmation": offer["confirmation"]}
    assert call("delete_t4_entry", **kind, **done)["deleted"]


def test_delete_notecard_confirmation_is_stored_only_as_a_digest(
    call: Call, card: int
) -> None:
    from sqlalchemy import select

    from examples.ren.main_tables import confirmations as table
    from examples.ren.pools import main_pool

    confirmation = request_confirmation(call, card)["confirmation"]
    with main_pool() as connection:
        rows = connection.execute(select(table)).all()
    assert len(rows) == 1
    assert confirmation not in str(rows)

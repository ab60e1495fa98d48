"""Deleting in two steps: a confirmation is good for one thing, once, for a while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from examples.ren import confirmations
from generated.ren.registry import call_tool_sync
from letta.tests.fake_letta import FakeLetta
from letta.tests.ren.conftest import Call

NOT_GOOD = "This confirmation is not good for what is there now"


@pytest.fixture
def card(call: Call) -> int:
    number: int = call("create_notecard", text="Keep me.")["notecard_id"]
    return number


def offer(call: Call, card: int) -> dict[str, Any]:
    given = call("delete_notecard", notecard_id=card)
    return {"confirmed": True, "confirmation": given["confirmation"]}


def test_nothing_is_deleted_by_one_call(call: Call, error_of: Any, card: int) -> None:
    told = error_of("delete_notecard", notecard_id=card, confirmed=True)
    assert told.startswith("`confirmed` needs the `confirmation`")
    assert not call("delete_notecard", notecard_id=card)["deleted"]
    assert not call("delete_notecard", notecard_id=card, confirmed=False)["deleted"]
    given = offer(call, card)["confirmation"]
    told = error_of("delete_notecard", notecard_id=card, confirmation=given)
    assert told == "`confirmation` without `confirmed: true` deletes nothing."
    assert call("list_notecards")["notecards"][0]["notecard_id"] == card


def test_a_confirmation_is_for_one_card(call: Call, error_of: Any, card: int) -> None:
    other = call("create_notecard", text="Keep me, too.")["notecard_id"]
    given = offer(call, card)
    assert NOT_GOOD in error_of("delete_notecard", notecard_id=other, **given)
    assert call("delete_notecard", notecard_id=card, **given)["deleted"]


def test_a_confirmation_is_for_what_was_shown(
    call: Call, error_of: Any, card: int
) -> None:
    given = offer(call, card)
    call("update_notecard", notecard_id=card, text="Something else.")
    assert NOT_GOOD in error_of("delete_notecard", notecard_id=card, **given)


def test_a_confirmation_ends(
    call: Call, error_of: Any, card: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmations, "GOOD_FOR", timedelta(seconds=-1))
    given = offer(call, card)
    assert NOT_GOOD in error_of("delete_notecard", notecard_id=card, **given)


def test_of_many_at_once_one_deletes(call: Call, letta: FakeLetta) -> None:
    given = call("delete_archival_passage", passage_id="passage-1")
    arguments = {
        "passage_id": "passage-1",
        "confirmed": True,
        "confirmation": given["confirmation"],
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


def test_entries_that_came_later_are_not_deleted(call: Call, error_of: Any) -> None:
    kind = {"project_slug": "importer", "entry_type": "brainstorm"}
    call("write_t4_entry", content="One.", **kind)
    given = call("delete_t4_entry", **kind)
    call("write_t4_entry", content="Two.", **kind)
    done = {"confirmed": True, "confirmation": given["confirmation"]}
    assert NOT_GOOD in error_of("delete_t4_entry", **kind, **done)
    assert len(call("get_t4_entry", **kind)["entries"]) == 2
    given = call("delete_t4_entry", **kind)
    assert len(given["entry_ids"]) == 2
    done = {"confirmed": True, "confirmation": given["confirmation"]}
    assert call("delete_t4_entry", **kind, **done)["deleted"]


def test_a_confirmation_is_kept_as_a_digest(call: Call, card: int) -> None:
    from sqlalchemy import select

    from examples.ren.main_tables import confirmations as table
    from examples.ren.pools import main_pool

    given = offer(call, card)["confirmation"]
    with main_pool() as connection:
        rows = connection.execute(select(table)).all()
    assert len(rows) == 1
    assert given not in str(rows)

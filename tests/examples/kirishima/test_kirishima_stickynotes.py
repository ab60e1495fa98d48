"""The tool stickynotes: due times, recurrence, time zones and snoozing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from whenever import Instant, TimePatch, patch_current_time

from toolcast_runtime import ToolError

Call = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("clock")


@pytest.fixture
def clock() -> Iterator[TimePatch]:
    """Stop the clock at noon on 15 January 2026; only the test moves it."""
    start = Instant.parse_iso("2026-01-15T12:00Z")
    with patch_current_time(start, keep_ticking=False) as patch:
        yield patch


@pytest.fixture
def amsterdam(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the assistant's time zone to Europe/Amsterdam."""
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Europe/Amsterdam")


def create(call: Call, date: str, periodicity: str | None = None) -> Any:
    arguments = {"action": "create", "text": f"note for {date}", "date": date}
    if periodicity is not None:
        arguments["periodicity"] = periodicity
    return call("stickynotes", **arguments)["notes"][0]


def resolve(call: Call, note: Any) -> Any:
    return call("stickynotes", action="resolve", id=note["id"])["notes"][0]


def snooze(call: Call, note: Any, duration: str) -> Any:
    result = call("stickynotes", action="snooze", id=note["id"], snooze=duration)
    return result["notes"][0]


def list_notes(call: Call) -> list[tuple[str, str]]:
    notes = call("stickynotes", action="list")["notes"]
    return [(note["id"], note["status"]) for note in notes]


def move_to(clock: TimePatch, text: str) -> None:
    clock.shift(seconds=Instant.parse_iso(text).timestamp() - Instant.now().timestamp())


def test_sticky_note_becomes_due_at_its_time_and_can_be_resolved_only_once(
    call: Call, clock: TimePatch
) -> None:
    note = create(call, "2026-01-15T13:00Z")
    assert note["status"] == "upcoming"
    assert note["date"] == "2026-01-15T13:00:00+00:00"
    clock.shift(hours=1)
    assert list_notes(call) == [(note["id"], "due")]
    assert resolve(call, note)["status"] == "resolved"
    assert list_notes(call) == []
    with pytest.raises(ToolError, match="already resolved"):
        resolve(call, note)
    with pytest.raises(ToolError, match="already resolved"):
        snooze(call, note, "PT1H")


def test_stickynotes_list_is_sorted_by_due_time(call: Call) -> None:
    later = create(call, "2026-02-01")
    due = create(call, "2026-01-15T11:00Z")
    overdue = create(call, "2026-01-15T12:30+02:00")
    statuses = {overdue["id"]: "due", due["id"]: "due", later["id"]: "upcoming"}
    assert list_notes(call) == list(statuses.items())
    result = call("stickynotes", action="list")
    assert result["now"] == "2026-01-15T12:00:00+00:00"


@pytest.mark.usefixtures("amsterdam")
def test_sticky_note_times_without_offset_are_in_the_set_time_zone(call: Call) -> None:
    assert create(call, "2026-01-20T09:00")["date"] == "2026-01-20T09:00:00+01:00"
    assert create(call, "2026-07-20")["date"] == "2026-07-20T00:00:00+02:00"
    assert create(call, "2026-07-20T09:00Z")["date"] == "2026-07-20T09:00:00+00:00"
    skipped = create(call, "2026-03-29T02:30")
    assert skipped["date"] == "2026-03-29T03:30:00+02:00"
    assert call("stickynotes", action="list")["now"] == "2026-01-15T13:00:00+01:00"


@pytest.mark.usefixtures("amsterdam")
def test_daily_sticky_note_has_the_same_local_time_after_clock_changes(
    call: Call, clock: TimePatch
) -> None:
    note = create(call, "2026-03-28T09:00", "R/P1D")
    move_to(clock, "2026-03-28T10:00Z")
    assert resolve(call, note)["date"] == "2026-03-29T09:00:00+02:00"
    with_offset = create(call, "2026-03-28T09:00+01:00", "R/P1D")
    assert resolve(call, with_offset)["date"] == "2026-03-29T09:00:00+01:00"
    hourly = create(call, "2026-03-28T09:00", "R/PT24H")
    assert resolve(call, hourly)["date"] == "2026-03-29T10:00:00+02:00"


@pytest.mark.usefixtures("amsterdam")
def test_sticky_note_keeps_its_time_zone_after_a_configuration_change(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = create(call, "2026-01-15T09:00", "R/P1D")
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Asia/Tokyo")
    assert resolve(call, note)["date"] == "2026-01-16T09:00:00+01:00"


def test_monthly_sticky_note_on_the_31st_uses_the_last_day_in_shorter_months(
    call: Call, clock: TimePatch
) -> None:
    note = create(call, "2026-01-31T17:00", "R/P1M")
    dates = [note["date"]]
    for _ in range(4):
        move_to(clock, dates[-1])
        dates.append(resolve(call, note)["date"])
    days = [date.removeprefix("2026-")[:5] for date in dates]
    assert days == ["01-31", "02-28", "03-31", "04-30", "05-31"]


def test_yearly_sticky_note_on_a_leap_day_returns_in_leap_years(
    call: Call, clock: TimePatch
) -> None:
    """A yearly note of 29 February is due on 28 February in other years."""
    move_to(clock, "2028-02-29T12:00Z")
    note = create(call, "2028-02-29", "R/P1Y")
    assert resolve(call, note)["date"][:10] == "2029-02-28"
    move_to(clock, "2031-06-01T00:00Z")
    assert resolve(call, note)["date"][:10] == "2032-02-29"


@pytest.mark.parametrize(
    ("periodicity", "date"),
    [
        ("R/P1W", "2026-01-22T09:00:00+00:00"),
        ("R/P2D", "2026-01-17T09:00:00+00:00"),
        ("R/PT90M", "2026-01-15T13:30:00+00:00"),
        ("R/P1M1DT1H", "2026-02-16T10:00:00+00:00"),
        ("R/P1Y", "2027-01-15T09:00:00+00:00"),
    ],
)
def test_resolving_a_repeating_sticky_note_moves_it_to_the_first_future_occurrence(
    call: Call, periodicity: str, date: str
) -> None:
    note = create(call, "2026-01-15T09:00Z", periodicity)
    next_note = resolve(call, note)
    assert (next_note["date"], next_note["status"]) == (date, "upcoming")


def test_resolving_an_overdue_repeating_sticky_note_skips_missed_occurrences(
    call: Call, clock: TimePatch
) -> None:
    note = create(call, "2026-01-10T09:00", "R/P1D")
    assert note["status"] == "due"
    assert resolve(call, note)["date"] == "2026-01-16T09:00:00+00:00"
    clock.shift(hours=24 * 3650)
    assert resolve(call, note)["date"] == "2036-01-14T09:00:00+00:00"


def test_upcoming_sticky_note_occurrence_can_be_resolved(call: Call) -> None:
    """Resolving a repeating note early moves it to the next occurrence."""
    note = create(call, "2026-01-20T09:00", "R/P1D")
    assert resolve(call, note)["date"] == "2026-01-21T09:00:00+00:00"
    assert resolve(call, note)["date"] == "2026-01-22T09:00:00+00:00"


def test_repeating_sticky_note_with_a_count_ends_after_the_last_occurrence(
    call: Call, clock: TimePatch
) -> None:
    """A note with the recurrence `R3/P1D` is resolved after its third occurrence."""
    note = create(call, "2026-01-15T09:00", "R3/P1D")
    dates = []
    for _ in range(2):
        moved = resolve(call, note)
        dates.append(moved["date"][:10])
        clock.shift(hours=24)
    assert dates == ["2026-01-16", "2026-01-17"]
    last = resolve(call, note)
    assert (last["status"], last["date"][:10]) == ("resolved", "2026-01-17")
    single = create(call, "2026-01-15T09:00", "R1/P1D")
    assert resolve(call, single)["status"] == "resolved"


def test_snooze_of_a_due_sticky_note_starts_now(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-15T09:00")
    snoozed = snooze(call, note, "PT1H")
    assert snoozed["snoozed_until"] == "2026-01-15T13:00:00+00:00"
    assert snoozed["status"] == "upcoming"
    assert snoozed["date"] == note["date"]
    second = snooze(call, note, "P1M")
    assert second["snoozed_until"] == "2026-02-15T13:00:00+00:00"
    move_to(clock, "2026-02-15T13:00Z")
    assert list_notes(call) == [(note["id"], "due")]


def test_snooze_of_an_upcoming_sticky_note_starts_at_its_due_time(call: Call) -> None:
    note = create(call, "2026-01-20T09:00+01:00")
    snoozed = snooze(call, note, "P1D")
    assert snoozed["snoozed_until"] == "2026-01-21T09:00:00+01:00"


def test_sticky_note_snooze_does_not_change_later_occurrences(call: Call) -> None:
    note = create(call, "2026-01-15T09:00", "R/P1D")
    snooze(call, note, "PT3H")
    next_note = resolve(call, note)
    assert next_note["date"] == "2026-01-16T09:00:00+00:00"
    assert next_note["snoozed_until"] is None


INVALID_PERIODICITIES = ["P1D", "R/", "R/P", "R/1D", "R/P0D", "R/-P1D", "R0/P1D"]
INVALID_PERIODICITIES += ["R-1/P1D", "R/P0.5M", "R/PT1S", "R/PT60.5S", "R/P9000Y"]
INVALID_PERIODICITIES += ["R/2026-01-01T00:00Z/P1D", "R/P1D\n", "r/P1D", "R٣/P1D"]


@pytest.mark.parametrize("periodicity", INVALID_PERIODICITIES)
def test_stickynotes_reject_an_invalid_periodicity(
    call: Call, periodicity: str
) -> None:
    with pytest.raises(ToolError, match="`periodicity`"):
        create(call, "2026-01-15T09:00", periodicity)
    assert list_notes(call) == []


@pytest.mark.parametrize(
    "duration", ["1h", "P", "PT", "PT0S", "-PT1H", "P9000Y", "P99999999999D", "R/P1D"]
)
def test_stickynotes_rejects_an_invalid_snooze_duration_and_the_note_stays_due(
    call: Call, duration: str
) -> None:
    note = create(call, "2026-01-15T09:00")
    with pytest.raises(ToolError, match="`snooze`"):
        snooze(call, note, duration)
    assert list_notes(call) == [(note["id"], "due")]


def test_stickynotes_resolve_rejects_an_unknown_or_invalid_id(call: Call) -> None:
    with pytest.raises(ToolError, match="no note with the id 7"):
        call("stickynotes", action="resolve", id="7")
    with pytest.raises(ToolError, match="`id` must be an identifier"):
        call("stickynotes", action="resolve", id="first")

"""Notes: due times, recurrence and snoozing, by the calendar."""

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
    """A clock that stands at noon on 15 January 2026 until a test moves it."""
    start = Instant.parse_iso("2026-01-15T12:00Z")
    with patch_current_time(start, keep_ticking=False) as patch:
        yield patch


@pytest.fixture
def amsterdam(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Europe/Amsterdam")


def create(call: Call, date: str, periodicity: str | None = None) -> Any:
    arguments = {"action": "create", "text": f"note for {date}", "date": date}
    if periodicity is not None:
        arguments["periodicity"] = periodicity
    return call("stickynotes", **arguments)["notes"][0]


def resolve(call: Call, note: Any) -> Any:
    return call("stickynotes", action="resolve", id=note["id"])["notes"][0]


def snooze(call: Call, note: Any, length: str) -> Any:
    answer = call("stickynotes", action="snooze", id=note["id"], snooze=length)
    return answer["notes"][0]


def listed(call: Call) -> list[tuple[str, str]]:
    notes = call("stickynotes", action="list")["notes"]
    return [(note["id"], note["status"]) for note in notes]


def move_to(clock: TimePatch, text: str) -> None:
    clock.shift(seconds=Instant.parse_iso(text).timestamp() - Instant.now().timestamp())


def test_a_note_becomes_due_and_ends(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-15T13:00Z")
    assert note["status"] == "upcoming"
    assert note["date"] == "2026-01-15T13:00:00+00:00"
    clock.shift(hours=1)
    assert listed(call) == [(note["id"], "due")]
    assert resolve(call, note)["status"] == "resolved"
    assert listed(call) == []
    with pytest.raises(ToolError, match="resolved already"):
        resolve(call, note)
    with pytest.raises(ToolError, match="resolved already"):
        snooze(call, note, "PT1H")


def test_the_list_begins_with_the_longest_due(call: Call) -> None:
    later = create(call, "2026-02-01")
    due = create(call, "2026-01-15T11:00Z")
    overdue = create(call, "2026-01-15T12:30+02:00")
    answer = call("stickynotes", action="list")
    assert [note["id"] for note in answer["notes"]] == [
        overdue["id"],
        due["id"],
        later["id"],
    ]
    assert [note["status"] for note in answer["notes"]] == ["due", "due", "upcoming"]
    assert answer["now"] == "2026-01-15T12:00:00+00:00"


@pytest.mark.usefixtures("amsterdam")
def test_local_times_are_in_the_own_zone(call: Call) -> None:
    assert create(call, "2026-01-20T09:00")["date"] == "2026-01-20T09:00:00+01:00"
    assert create(call, "2026-07-20")["date"] == "2026-07-20T00:00:00+02:00"
    assert create(call, "2026-07-20T09:00Z")["date"] == "2026-07-20T09:00:00+00:00"
    skipped = create(call, "2026-03-29T02:30")
    assert skipped["date"] == "2026-03-29T03:30:00+02:00"
    assert call("stickynotes", action="list")["now"] == "2026-01-15T13:00:00+01:00"


@pytest.mark.usefixtures("amsterdam")
def test_a_daily_note_keeps_its_hour_when_clocks_change(
    call: Call, clock: TimePatch
) -> None:
    note = create(call, "2026-03-28T09:00", "R/P1D")
    move_to(clock, "2026-03-28T10:00Z")
    assert resolve(call, note)["date"] == "2026-03-29T09:00:00+02:00"
    fixed = create(call, "2026-03-28T09:00+01:00", "R/P1D")
    assert resolve(call, fixed)["date"] == "2026-03-29T09:00:00+01:00"
    exact = create(call, "2026-03-28T09:00", "R/PT24H")
    assert resolve(call, exact)["date"] == "2026-03-29T10:00:00+02:00"


@pytest.mark.usefixtures("amsterdam")
def test_a_note_keeps_its_zone_when_the_assistant_moves(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = create(call, "2026-01-15T09:00", "R/P1D")
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Asia/Tokyo")
    assert resolve(call, note)["date"] == "2026-01-16T09:00:00+01:00"


def test_the_31st_comes_back_after_short_months(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-31T17:00", "R/P1M")
    dates = [note["date"]]
    for _ in range(4):
        move_to(clock, dates[-1])
        dates.append(resolve(call, note)["date"])
    assert [date[:10] for date in dates] == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
    ]


def test_a_leap_day_comes_back(call: Call, clock: TimePatch) -> None:
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
def test_the_next_occurrence_is_the_first_to_come(
    call: Call, periodicity: str, date: str
) -> None:
    note = create(call, "2026-01-15T09:00Z", periodicity)
    following = resolve(call, note)
    assert (following["date"], following["status"]) == (date, "upcoming")


def test_missed_occurrences_are_passed_over(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-10T09:00", "R/P1D")
    assert note["status"] == "due"
    assert resolve(call, note)["date"] == "2026-01-16T09:00:00+00:00"
    clock.shift(hours=24 * 3650)
    assert resolve(call, note)["date"] == "2036-01-14T09:00:00+00:00"


def test_resolving_early_moves_on_too(call: Call) -> None:
    note = create(call, "2026-01-20T09:00", "R/P1D")
    assert resolve(call, note)["date"] == "2026-01-21T09:00:00+00:00"
    assert resolve(call, note)["date"] == "2026-01-22T09:00:00+00:00"


def test_a_counted_series_ends(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-15T09:00", "R3/P1D")
    dates = []
    for _ in range(2):
        moved = resolve(call, note)
        dates.append(moved["date"][:10])
        clock.shift(hours=24)
    assert dates == ["2026-01-16", "2026-01-17"]
    last = resolve(call, note)
    assert (last["status"], last["date"][:10]) == ("resolved", "2026-01-17")
    once = create(call, "2026-01-15T09:00", "R1/P1D")
    assert resolve(call, once)["status"] == "resolved"


def test_snooze_counts_from_now_when_due(call: Call, clock: TimePatch) -> None:
    note = create(call, "2026-01-15T09:00")
    snoozed = snooze(call, note, "PT1H")
    assert snoozed["snoozed_until"] == "2026-01-15T13:00:00+00:00"
    assert snoozed["status"] == "upcoming"
    assert snoozed["date"] == note["date"]
    again = snooze(call, note, "P1M")
    assert again["snoozed_until"] == "2026-02-15T13:00:00+00:00"
    move_to(clock, "2026-02-15T13:00Z")
    assert listed(call) == [(note["id"], "due")]


def test_snooze_counts_from_the_due_time_when_upcoming(call: Call) -> None:
    note = create(call, "2026-01-20T09:00+01:00")
    snoozed = snooze(call, note, "P1D")
    assert snoozed["snoozed_until"] == "2026-01-21T09:00:00+01:00"


def test_a_snooze_leaves_the_series_alone(call: Call) -> None:
    note = create(call, "2026-01-15T09:00", "R/P1D")
    snooze(call, note, "PT3H")
    following = resolve(call, note)
    assert following["date"] == "2026-01-16T09:00:00+00:00"
    assert following["snoozed_until"] is None


@pytest.mark.parametrize(
    "periodicity",
    [
        "P1D",
        "R/",
        "R/P",
        "R/1D",
        "R/P0D",
        "R/-P1D",
        "R0/P1D",
        "R-1/P1D",
        "R/P0.5M",
        "R/PT1S",
        "R/PT60.5S",
        "R/P9000Y",
        "R/2026-01-01T00:00Z/P1D",
        "R/P1D\n",
        "daily",
        "r/P1D",
        "R٣/P1D",
    ],
)
def test_recurrences_are_strict(call: Call, periodicity: str) -> None:
    with pytest.raises(ToolError, match="`periodicity`"):
        create(call, "2026-01-15T09:00", periodicity)
    assert listed(call) == []


@pytest.mark.parametrize(
    "length", ["1h", "P", "PT", "PT0S", "-PT1H", "P9000Y", "P99999999999D", "R/P1D"]
)
def test_snoozes_are_strict(call: Call, length: str) -> None:
    note = create(call, "2026-01-15T09:00")
    with pytest.raises(ToolError, match="`snooze`"):
        snooze(call, note, length)
    assert listed(call) == [(note["id"], "due")]


def test_unknown_notes_are_told(call: Call) -> None:
    with pytest.raises(ToolError, match="no note with the id 7"):
        call("stickynotes", action="resolve", id="7")
    with pytest.raises(ToolError, match="`id` must be an identifier"):
        call("stickynotes", action="resolve", id="first")

"""The tool memory: storage, search, filters, invalid arguments and concurrent access."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from whenever import Instant, patch_current_time

from examples.kirishima.store import get_database_path, open_database
from toolcast_runtime import ToolError

Call = Callable[..., Any]


def create(call: Call, text: str, **fields: Any) -> str:
    """Create a memory and return its id."""
    created = call("memory", action="create", memory=text, **fields)
    return str(created["memories"][0]["memory_id"])


def texts(answer: Any) -> list[str]:
    """Return the texts of the memories in a result."""
    return [item["memory"] for item in answer["memories"]]


def test_memory_tool_creates_reads_updates_and_deletes_a_memory(call: Call) -> None:
    created = call(
        "memory",
        action="create",
        memory="  Noor is allergic to peanuts. ",
        keywords=["Noor", "noor", "food  allergy"],
        category="Family",
        topic_id="t-1",
    )
    item = created["memories"][0]
    assert item["memory"] == "Noor is allergic to peanuts."
    assert item["keywords"] == ["Noor", "food allergy"]
    assert (item["category"], item["topic_id"]) == ("Family", "t-1")
    memory_id = item["memory_id"]
    assert call("memory", action="get", memory_id=memory_id)["memories"] == [item]
    changes = {"memory_id": memory_id, "category": "Health"}
    [changed] = call("memory", action="update", **changes)["memories"]
    assert changed["category"] == "Health"
    for field in ("memory", "keywords", "topic_id", "created_at"):
        assert changed[field] == item[field]

    deleted = call("memory", action="delete", memory_id=memory_id)
    assert deleted["memories"] == [changed]
    with pytest.raises(ToolError, match="no memory with the id 1"):
        call("memory", action="get", memory_id=memory_id)
    # The id of a deleted memory is not used again.
    assert create(call, "another") != memory_id


def test_memory_tool_stores_memories_in_the_sqlite_file_in_wal_mode(call: Call) -> None:
    create(call, "kept")
    with sqlite3.connect(get_database_path()) as other:
        assert other.execute("SELECT text FROM memories").fetchall() == [("kept",)]
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_memory_search_requires_min_keywords_matches(call: Call) -> None:
    """A memory must match `min_keywords` keywords, or all if fewer are passed."""
    create(call, "Robin flies to Lisbon in May", keywords=["holiday"])
    create(call, "Robin's flights are booked with points")
    both = call("memory", action="search", keywords=["lisbon", "HOLIDAY", "train"])
    assert texts(both) == ["Robin flies to Lisbon in May"]
    any_one = call(
        "memory", action="search", keywords=["flight", "lisbon"], min_keywords=1
    )
    assert any_one["total"] == 2
    clamped = call("memory", action="search", keywords=["booking"], min_keywords=9)
    assert texts(clamped) == ["Robin's flights are booked with points"]


def test_memory_search_ranks_by_matched_keyword_count_then_bm25(call: Call) -> None:
    create(call, "saffron saffron saffron")
    for number in range(3):
        create(call, f"tea and milk, cup {number}")
    create(call, "tea, milk, and then a long remark about everything else in the shop")
    result = call(
        "memory", action="search", keywords=["tea", "milk", "saffron"], min_keywords=1
    )
    ranked = texts(result)
    assert ranked[-1] == "saffron saffron saffron"
    assert ranked[-2].startswith("tea, milk, and then")


def test_memory_search_ignores_accents_and_matches_phrases(call: Call) -> None:
    create(call, "Meets Zoë at the café on the corner")
    create(call, "The corner has a café")
    result = call("memory", action="search", keywords=["cafe on the corner", "zoe"])
    assert texts(result) == ["Meets Zoë at the café on the corner"]


HOSTILE_KEYWORDS = ['"', '" OR "x', "text:peanuts", "NEAR(a b)", "a AND NOT b", "pean*"]
HOSTILE_KEYWORDS += ["^start", "-x", "{a b}:c", "'; DROP TABLE memories; --"]
HOSTILE_KEYWORDS += ["(", "!!!", "nul\x00byte"]


@pytest.mark.parametrize("keyword", HOSTILE_KEYWORDS)
def test_memory_search_treats_full_text_operators_in_keywords_as_plain_text(
    call: Call, keyword: str
) -> None:
    create(call, "bystander peanuts")
    result = call("memory", action="search", keywords=[keyword], min_keywords=1)
    assert result["memories"] == []
    create(call, f"holds {keyword} itself")
    second_result = call("memory", action="search", keywords=[keyword], min_keywords=1)
    assert "bystander peanuts" not in texts(second_result)
    if any(letter.isalnum() for letter in keyword):
        assert second_result["total"] == 1


def test_memory_full_text_index_follows_updates_and_deletions(call: Call) -> None:
    first = create(call, "lives in Utrecht", keywords=["home"])
    call("memory", action="update", memory_id=first, memory="lives in Groningen")
    assert call("memory", action="search", keywords=["utrecht"])["total"] == 0
    assert call("memory", action="search", keywords=["groningen", "home"])["total"] == 1
    call("memory", action="update", memory_id=first, keywords=["address"])
    assert call("memory", action="search", keywords=["home"])["total"] == 0
    call("memory", action="delete", memory_id=first)
    assert call("memory", action="search", keywords=["groningen"])["total"] == 0
    with open_database() as connection:
        connection.execute(
            "INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')"
        )


def test_memory_list_and_search_apply_filters_limit_and_offset(call: Call) -> None:
    for number in range(5):
        moment = Instant.parse_iso(f"2026-03-0{number + 1}T12:00Z")
        with patch_current_time(moment, keep_ticking=False):
            category = "Health" if number % 2 else "Admin"
            create(call, f"memory {number}", category=category, topic_id=f"t{number}")
    newest = call("memory", action="list", limit=2)
    assert texts(newest) == ["memory 4", "memory 3"]
    assert newest["total"] == 5
    rest = call("memory", action="list", limit=2, offset=4)
    assert texts(rest) == ["memory 0"]
    beyond = call("memory", action="list", offset=10**30)
    assert (beyond["memories"], beyond["total"]) == ([], 5)
    health = call("memory", action="search", category="Health")
    assert texts(health) == ["memory 3", "memory 1"]
    assert texts(call("memory", action="search", topic_id="t2")) == ["memory 2"]
    between = call(
        "memory",
        action="search",
        created_after="2026-03-02T12:00:00Z",
        created_before="2026-03-04T13:00+01:00",
    )
    # `created_after` is inclusive, `created_before` exclusive.
    assert texts(between) == ["memory 2", "memory 1"]
    filtered = call(
        "memory", action="search", keywords=["memory"], created_after="2026-03-05"
    )
    assert texts(filtered) == ["memory 4"]


def test_memory_filter_dates_are_in_the_configured_time_zone(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A date without a time begins at midnight in KIRISHIMA_TIMEZONE."""
    moment = Instant.parse_iso("2026-03-01T23:30Z")
    with patch_current_time(moment, keep_ticking=False):
        create(call, "late")
    assert call("memory", action="list", created_after="2026-03-02")["total"] == 0
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Europe/Amsterdam")
    assert call("memory", action="list", created_after="2026-03-02")["total"] == 1
    monkeypatch.setenv("KIRISHIMA_TIMEZONE", "Mars/Olympus")
    with pytest.raises(ToolError, match="KIRISHIMA_TIMEZONE"):
        call("memory", action="list", created_after="2026-03-02")


@pytest.mark.parametrize(
    "text",
    ["yesterday", "2026-02-30", "2026-3-1", "1772000000", "", "2026-03-01T25:00"],
)
def test_memory_list_rejects_a_non_iso_8601_created_before(
    call: Call, text: str
) -> None:
    with pytest.raises(ToolError, match="`created_before` must be an ISO 8601"):
        call("memory", action="list", created_before=text)


def test_memory_create_and_update_reject_text_of_another_memory(call: Call) -> None:
    first = create(call, "likes tea")
    second = create(call, "likes coffee")
    with pytest.raises(ToolError, match=f"Memory {first} already has this text"):
        create(call, "likes tea ")
    with pytest.raises(ToolError, match=f"Memory {first} already has this text"):
        call("memory", action="update", memory_id=second, memory="likes tea")
    call("memory", action="update", memory_id=first, memory="likes tea")
    assert call("memory", action="list")["total"] == 2


@pytest.mark.parametrize("identifier", ["", "x", "-1", "1e0", "1 ", "٣", "9" * 19])
def test_memory_delete_rejects_an_invalid_memory_id_and_deletes_nothing(
    call: Call, identifier: str
) -> None:
    create(call, "the only one")
    with pytest.raises(ToolError, match="`memory_id` must be an identifier"):
        call("memory", action="delete", memory_id=identifier)
    assert call("memory", action="list")["total"] == 1


@pytest.mark.parametrize("text", ["  ", "\x00", "half \ud800 character"])
def test_memory_create_rejects_blank_or_unencodable_text(call: Call, text: str) -> None:
    with pytest.raises(ToolError, match="`memory`"):
        create(call, text)


def test_concurrent_first_memory_calls_create_one_database(call: Call) -> None:
    failures: list[BaseException] = []
    start = threading.Barrier(12)

    def work(number: int) -> None:
        try:
            start.wait()
            create(call, f"from thread {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert call("memory", action="list")["total"] == 12


def test_memory_create_in_a_locked_database_raises_tool_error_but_list_succeeds(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(call, "first")
    monkeypatch.setattr("examples.kirishima.store.BUSY_TIMEOUT_S", 0.05)
    with open_database(write=True):
        with pytest.raises(ToolError, match="busy"):
            create(call, "second")
        # Readers are not blocked.
        assert call("memory", action="list")["total"] == 1


def test_failed_memory_database_write_transaction_is_rolled_back(call: Call) -> None:
    create(call, "kept")

    def fail_halfway() -> None:
        with open_database(write=True) as connection:
            connection.execute("DELETE FROM memories")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail_halfway()
    assert call("memory", action="list")["total"] == 1


def test_memory_database_with_a_newer_schema_version_raises_runtime_error(
    call: Call, tmp_path: Path
) -> None:
    create(call, "kept")
    other = sqlite3.connect(get_database_path())
    other.execute("PRAGMA user_version = 99")
    other.close()
    with pytest.raises(RuntimeError, match="newer than this program"):
        create(call, "second")
    assert get_database_path().is_relative_to(tmp_path)


def test_first_memory_call_waits_until_a_database_lock_is_released(call: Call) -> None:
    get_database_path().parent.mkdir()
    other = sqlite3.connect(get_database_path(), check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    release = threading.Timer(0.2, other.rollback)
    release.start()
    create(call, "patient")
    release.join()
    other.close()
    assert call("memory", action="list")["total"] == 1

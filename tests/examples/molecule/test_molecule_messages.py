"""Broadcasts, the inbox, the user's chat and the history."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from examples.molecule import activities, store, user
from toolcast_runtime import ToolError

Call = Callable[..., Any]


def _inbox(call: Call, monkeypatch: pytest.MonkeyPatch, workspace_id: str) -> list[str]:
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", workspace_id)
    return [message["text"] for message in call("inbox_peek")["messages"]]


def test_a_broadcast_is_in_every_other_inbox_of_the_organisation(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = call("broadcast_message", message="All stop")
    assert result["delivered_to"] == ["ws-archive", "ws-research", "ws-writing"]
    for workspace_id in result["delivered_to"]:
        assert _inbox(call, monkeypatch, workspace_id) == ["All stop"]
    for workspace_id in ("ws-director", "ws-harbor"):
        assert _inbox(call, monkeypatch, workspace_id) == []


def test_a_message_stays_until_it_is_popped_and_popping_twice_is_harmless(
    call: Call,
) -> None:
    first = user.send_message("ws-director", "first")
    user.send_message("ws-director", "second")
    for _ in range(2):
        assert call("wait_for_message")["message"]["text"] == "first"
    assert len(call("inbox_peek", limit=1)["messages"]) == 1
    assert call("inbox_pop", activity_id=first)["removed"]
    assert not call("inbox_pop", activity_id=first)["removed"]
    assert call("wait_for_message")["message"]["text"] == "second"


def test_another_workspace_s_message_cannot_be_popped(call: Call) -> None:
    foreign = user.send_message("ws-research", "not yours")
    assert not call("inbox_pop", activity_id=foreign)["removed"]
    assert [one.text for one in activities.list_pending("ws-research", 9)] == [
        "not yours"
    ]


def test_waiting_ends_when_a_message_comes(call: Call) -> None:
    call("inbox_peek")
    timer = threading.Timer(0.5, user.send_message, ["ws-director", "wake up"])
    timer.start()
    begun = time.monotonic()
    result = call("wait_for_message", timeout_secs=30)
    timer.join()
    assert result["message"]["text"] == "wake up"
    assert 0.4 < time.monotonic() - begun < 5


def test_waiting_ends_when_the_time_is_up(call: Call) -> None:
    begun = time.monotonic()
    result = call("wait_for_message", timeout_secs=0.3)
    assert result == {"timed_out": True, "message": None}
    assert 0.3 <= time.monotonic() - begun < 3


def test_the_user_reads_what_was_sent_with_its_files(
    call: Call, tmp_path: Path
) -> None:
    report = tmp_path / "report 1.csv"
    report.write_text("a,b\n", encoding="utf-8")
    result = call(
        "send_message_to_user",
        message="Here it is",
        attachments=[
            str(report),
            "https://example.org/a.pdf",
            {"uri": "https://example.org/b", "name": "b.txt", "size": 3},
        ],
        workspace_id="ws-writing",
    )
    assert result["attachments"] == [
        {
            "uri": report.as_uri(),
            "name": "report 1.csv",
            "mimeType": "text/csv",
            "size": 4,
        },
        {"uri": "https://example.org/a.pdf", "name": "a.pdf"},
        {"uri": "https://example.org/b", "name": "b.txt", "size": 3},
    ]
    [line] = user.list_chat()
    assert "ws-writing agent: Here it is" in line
    assert report.as_uri() in line


def test_a_file_that_is_missing_sends_nothing(call: Call) -> None:
    with pytest.raises(ToolError, match=r"`gone\.txt` is neither a URI nor a file"):
        call("send_message_to_user", message="see", attachments=["gone.txt"])
    assert user.list_chat() == []


def _talk(*texts: str) -> None:
    with store.write_transaction() as db:
        for text in texts:
            activities.record_both(db, "ws-director", "ws-research", "task", text)


def test_history_is_the_latest_turns_oldest_first_and_pages_back(call: Call) -> None:
    _talk("one", "two", "three", "four")

    def turns(**arguments: Any) -> list[dict[str, str]]:
        found = call("chat_history", peer_id="ws-research", **arguments)["turns"]
        return list(found)

    assert [turn["text"] for turn in turns()] == ["one", "two", "three", "four"]
    latest = turns(limit=2)
    assert [turn["text"] for turn in latest] == ["three", "four"]
    before = turns(limit=2, before_ts=latest[0]["at"])
    assert [turn["text"] for turn in before] == ["one", "two"]
    assert turns(before_ts=before[0]["at"]) == []


@pytest.mark.parametrize(
    ("moment", "seen"),
    [
        ("2999-01-01T00:00:00Z", ["hello"]),
        ("2999-01-01t00:00:00.5+02:00", ["hello"]),
        ("2000-01-01T00:00:00-05:00", []),
    ],
)
def test_history_understands_rfc_3339(call: Call, moment: str, seen: list[str]) -> None:
    _talk("hello")
    history = call("chat_history", peer_id="ws-research", before_ts=moment)
    assert [turn["text"] for turn in history["turns"]] == seen


@pytest.mark.parametrize(
    "moment", ["2026-01-31T09:30:00", "2026-13-01T00:00:00Z", "2026-01-31", ""]
)
def test_history_refuses_what_is_no_moment(call: Call, moment: str) -> None:
    with pytest.raises(ToolError, match="before_ts"):
        call("chat_history", peer_id="ws-research", before_ts=moment)

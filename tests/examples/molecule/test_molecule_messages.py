"""Message tools of molecule: broadcasts, inbox, messages to the user, chat history."""

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


def read_inbox(
    call: Call, monkeypatch: pytest.MonkeyPatch, workspace_id: str
) -> list[str]:
    """Return the texts in the workspace's inbox."""
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", workspace_id)
    return [message["text"] for message in call("inbox_peek")["messages"]]


def test_broadcast_message_reaches_every_other_workspace_inbox_in_the_organization(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = call("broadcast_message", message="All stop")
    assert result["delivered_to"] == ["ws-archive", "ws-research", "ws-writing"]
    for workspace_id in result["delivered_to"]:
        assert read_inbox(call, monkeypatch, workspace_id) == ["All stop"]
    for workspace_id in ("ws-director", "ws-harbor"):
        assert read_inbox(call, monkeypatch, workspace_id) == []


def test_wait_for_message_returns_an_inbox_message_until_inbox_pop(call: Call) -> None:
    """Waiting returns the same message until it is popped; a second pop does nothing."""
    first = user.send_message("ws-director", "first")
    user.send_message("ws-director", "second")
    for _ in range(2):
        assert call("wait_for_message")["message"]["text"] == "first"
    assert len(call("inbox_peek", limit=1)["messages"]) == 1
    assert call("inbox_pop", activity_id=first)["removed"]
    assert not call("inbox_pop", activity_id=first)["removed"]
    assert call("wait_for_message")["message"]["text"] == "second"


def test_inbox_pop_does_not_remove_another_workspaces_message(call: Call) -> None:
    foreign = user.send_message("ws-research", "not yours")
    assert not call("inbox_pop", activity_id=foreign)["removed"]
    [pending] = activities.list_pending("ws-research", 9)
    assert pending.text == "not yours"


def test_wait_for_message_returns_when_a_message_arrives(call: Call) -> None:
    call("inbox_peek")
    timer = threading.Timer(0.5, user.send_message, ["ws-director", "wake up"])
    start = time.monotonic()
    timer.start()
    result = call("wait_for_message", timeout_secs=300)
    timer.join()
    assert result["message"]["text"] == "wake up"
    # Far below the timeout, at which only a wait that ignores messages would end.
    assert 0.5 <= time.monotonic() - start < 100


def test_wait_for_message_returns_timed_out_after_timeout_secs(call: Call) -> None:
    start = time.monotonic()
    result = call("wait_for_message", timeout_secs=0.3)
    assert result == {"timed_out": True, "message": None}
    # A wait that ignores `timeout_secs` would take the default of 60 seconds.
    assert 0.3 <= time.monotonic() - start < 50


def test_send_message_to_user_resolves_attachments_that_are_paths_uris_or_objects(
    call: Call, tmp_path: Path
) -> None:
    report = tmp_path / "report 1.csv"
    report.write_text("a,b\n", encoding="utf-8")
    page = "https://example.org/a.pdf"
    described = {"uri": "https://example.org/b", "name": "b.txt", "size": 3}
    result = call(
        "send_message_to_user",
        message="Here it is",
        attachments=[str(report), page, described],
        workspace_id="ws-writing",
    )
    file = {"uri": report.as_uri(), "name": "report 1.csv", "size": 4}
    file["mimeType"] = "text/csv"
    expected = [file, {"uri": page, "name": "a.pdf"}, described]
    assert result["attachments"] == expected
    [line] = user.list_chat()
    assert "ws-writing agent: Here it is" in line
    assert report.as_uri() in line


def test_send_message_to_user_rejects_a_missing_attachment_file(call: Call) -> None:
    with pytest.raises(ToolError, match=r"`gone\.txt` is neither a URI nor a file"):
        call("send_message_to_user", message="see", attachments=["gone.txt"])
    assert user.list_chat() == []


def add_turns(*texts: str) -> None:
    """Add messages from the director to research to the history."""
    with store.write_transaction() as db:
        for text in texts:
            activities.record_both(db, "ws-director", "ws-research", "task", text)


def test_chat_history_returns_latest_turns_in_pages_oldest_first(call: Call) -> None:
    add_turns("one", "two", "three", "four")

    def turns(**arguments: Any) -> Any:
        return call("chat_history", peer_id="ws-research", **arguments)["turns"]

    assert [turn["text"] for turn in turns()] == ["one", "two", "three", "four"]
    latest = turns(limit=2)
    assert [turn["text"] for turn in latest] == ["three", "four"]
    before = turns(limit=2, before_ts=latest[0]["at"])
    assert [turn["text"] for turn in before] == ["one", "two"]
    assert turns(before_ts=before[0]["at"]) == []


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        ("2999-01-01T00:00:00Z", ["hello"]),
        ("2999-01-01t00:00:00.5+02:00", ["hello"]),
        ("2000-01-01T00:00:00-05:00", []),
    ],
)
def test_chat_history_accepts_rfc_3339_times_as_before_ts(
    call: Call, timestamp: str, expected: list[str]
) -> None:
    add_turns("hello")
    history = call("chat_history", peer_id="ws-research", before_ts=timestamp)
    assert [turn["text"] for turn in history["turns"]] == expected


@pytest.mark.parametrize(
    "timestamp", ["2026-01-31T09:30:00", "2026-13-01T00:00:00Z", "2026-01-31", ""]
)
def test_chat_history_rejects_an_invalid_before_ts(call: Call, timestamp: str) -> None:
    with pytest.raises(ToolError, match="before_ts"):
        call("chat_history", peer_id="ws-research", before_ts=timestamp)

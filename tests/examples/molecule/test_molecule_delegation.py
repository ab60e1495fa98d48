"""Delegation between workspaces that are processes of their own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from examples.molecule import a2a, delegation, registry, server
from toolcast_runtime import ToolError

Call = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("platform")


def test_a_peer_does_the_task_and_answers(call: Call) -> None:
    result = call(
        "delegate_task", workspace_id="ws-research", task="calculate: (2 + 3) * 4"
    )
    assert result["state"] == "completed"
    assert result["answer"] == "20"


def test_a_task_that_the_peer_cannot_do_is_an_error(call: Call) -> None:
    with pytest.raises(ToolError, match=r"did not do the task: .*division by zero"):
        call("delegate_task", workspace_id="ws-research", task="calculate: 1 / 0")
    with pytest.raises(ToolError, match=r"Research does only: `echo: \.\.\.`"):
        call("delegate_task", workspace_id="ws-research", task="make coffee")


def test_an_asynchronous_task_is_polled_until_it_is_done(call: Call) -> None:
    begun = call(
        "delegate_task_async", workspace_id="ws-writing", task="count words: a b c"
    )
    assert (begun["state"], begun["answer"]) == ("working", None)
    asked = {"workspace_id": "ws-writing", "task_id": begun["task_id"]}
    deadline = time.monotonic() + 10
    while (found := call("check_task_status", **asked))["state"] == "working":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert (found["state"], found["answer"]) == ("completed", "3 words")


def test_only_the_workspace_that_delegated_a_task_can_ask_for_it(call: Call) -> None:
    task = call("delegate_task", workspace_id="ws-research", task="echo: secret")
    asked = {"workspace_id": "ws-research", "task_id": task["task_id"]}
    assert call("check_task_status", **asked)["answer"] == "secret"
    with pytest.raises(ToolError, match="has no task"):
        call("check_task_status", **asked, source_workspace_id="ws-writing")


def test_a_task_goes_out_as_the_named_source(call: Call) -> None:
    call(
        "delegate_task",
        workspace_id="ws-research",
        task="echo: from writing",
        source_workspace_id="ws-writing",
    )
    history = call(
        "chat_history", peer_id="ws-writing", source_workspace_id="ws-research"
    )
    said = [(turn["direction"], turn["text"]) for turn in history["turns"]]
    assert said[-2:] == [("received", "echo: from writing"), ("sent", "from writing")]


def test_a_peer_with_an_inbox_gets_the_message_there(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = call(
        "delegate_task",
        workspace_id="ws-director",
        task="Which of the offers shall I edit?",
        source_workspace_id="ws-writing",
    )
    assert (result["state"], result["task_id"]) == ("delivered", None)
    message = call("wait_for_message", timeout_secs=0)["message"]
    assert message["peer_id"] == "ws-writing"
    assert message["text"] == "Which of the offers shall I edit?"
    assert call("inbox_pop", activity_id=message["activity_id"])["removed"]


def test_a_task_that_outlasts_the_first_wait_is_polled_for(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = a2a.send_message

    async def at_once(*parties: Any, blocking: bool) -> dict[str, Any]:
        return await send(*parties, blocking=False)

    monkeypatch.setattr(a2a, "send_message", at_once)
    result = call("delegate_task", workspace_id="ws-writing", task="uppercase: done")
    assert result["answer"] == "DONE"
    monkeypatch.setattr(delegation, "TASK_TIMEOUT_S", 0.0)
    with pytest.raises(ToolError, match=r"still works.*check_task_status.*task-"):
        call("delegate_task", workspace_id="ws-writing", task="uppercase: late")


def test_the_waits_leave_room_within_the_tool_s_timeout() -> None:
    longest = server.MAX_BLOCKING_S + delegation.TASK_TIMEOUT_S
    assert longest + a2a.CALL_TIMEOUT_S <= 300


@pytest.mark.parametrize(
    ("source", "peer", "reason"),
    [
        ("ws-director", "ws-archive", "only a parent, a child or"),
        ("ws-writing", "ws-archive", "only a parent, a child or"),
        ("ws-director", "ws-harbor", "not a workspace of this organisation"),
        ("ws-director", "ws-director", "the calling workspace itself"),
        ("ws-research", "ws-archive", "not running"),
    ],
)
def test_who_cannot_be_reached(call: Call, source: str, peer: str, reason: str) -> None:
    with pytest.raises(ToolError, match=reason):
        call(
            "delegate_task",
            workspace_id=peer,
            task="echo: hello",
            source_workspace_id=source,
        )


@pytest.mark.parametrize("address", ["of nobody", "of another peer"])
def test_a_peer_that_died_is_down_whoever_has_its_address_now(
    call: Call, address: str
) -> None:
    other = registry.find("ws-writing")
    assert other is not None
    url = "http://127.0.0.1:9" if address == "of nobody" else other.url
    registry.set_url("ws-archive", url)
    try:
        with pytest.raises(ToolError, match="`ws-archive` does not answer"):
            call(
                "delegate_task",
                workspace_id="ws-archive",
                task="echo: anything",
                source_workspace_id="ws-research",
            )
        peers = call("list_peers", source_workspace_id="ws-research")["peers"]
        status = {peer["id"]: peer["status"] for peer in peers}
    finally:
        registry.set_url("ws-archive", None)
    assert status == {
        "ws-archive": "offline",
        "ws-director": "online",
        "ws-writing": "online",
    }

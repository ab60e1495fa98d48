"""Delegation tools of molecule: tasks between workspaces that run as processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from examples.molecule import a2a, delegation, registry, server
from tests.waiting import wait_until
from toolcast_runtime import ToolError

Call = Callable[..., Any]
pytestmark = pytest.mark.usefixtures("platform")


def delegate(
    call: Call, task: str, peer: str = "ws-research", source: str | None = None
) -> Any:
    sender = {} if source is None else {"source_workspace_id": source}
    return call("delegate_task", workspace_id=peer, task=task, **sender)


def test_delegate_task_returns_the_peer_workspace_answer(call: Call) -> None:
    result = delegate(call, "calculate: (2 + 3) * 4")
    assert (result["state"], result["answer"]) == ("completed", "20")


def test_delegate_task_raises_tool_error_with_the_peers_reason(call: Call) -> None:
    message = r"did not complete the task: .*division by zero"
    with pytest.raises(ToolError, match=message):
        delegate(call, "calculate: 1 / 0")
    with pytest.raises(ToolError, match=r"Research supports only: `echo: \.\.\.`"):
        delegate(call, "make coffee")


def test_delegate_task_async_returns_working_and_its_status_completed(
    call: Call,
) -> None:
    arguments = {"workspace_id": "ws-writing", "task": "count words: a b c"}
    started = call("delegate_task_async", **arguments)
    assert (started["state"], started["answer"]) == ("working", None)
    query = {"workspace_id": "ws-writing", "task_id": started["task_id"]}
    wait_until(lambda: call("check_task_status", **query)["state"] != "working")
    task = call("check_task_status", **query)
    assert (task["state"], task["answer"]) == ("completed", "3 words")


def test_check_task_status_finds_only_the_workspaces_own_tasks(call: Call) -> None:
    task = delegate(call, "echo: secret")
    query = {"workspace_id": "ws-research", "task_id": task["task_id"]}
    assert call("check_task_status", **query)["answer"] == "secret"
    with pytest.raises(ToolError, match="has no task"):
        call("check_task_status", **query, source_workspace_id="ws-writing")


def test_delegated_task_is_sent_from_the_source_workspace(call: Call) -> None:
    """`source_workspace_id` is the sender in the receiver's chat history."""
    delegate(call, "echo: from writing", source="ws-writing")
    query = {"peer_id": "ws-writing", "source_workspace_id": "ws-research"}
    history = call("chat_history", **query)
    turns = [(turn["direction"], turn["text"]) for turn in history["turns"]]
    assert turns[-2:] == [("received", "echo: from writing"), ("sent", "from writing")]


def test_task_for_a_workspace_without_worker_is_delivered_to_its_inbox(
    call: Call,
) -> None:
    question = "Which of the offers shall I edit?"
    result = delegate(call, question, "ws-director", "ws-writing")
    assert (result["state"], result["task_id"]) == ("delivered", None)
    message = call("wait_for_message", timeout_secs=0)["message"]
    assert message["peer_id"] == "ws-writing"
    assert message["text"] == question
    assert call("inbox_pop", activity_id=message["activity_id"])["removed"]


def test_delegate_task_polls_a_pending_task_until_it_times_out(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`delegate_task` polls a task that is still running after the blocking request."""
    send = a2a.send_message

    async def send_without_blocking(*parties: Any, blocking: bool) -> dict[str, Any]:
        return await send(*parties, blocking=False)

    monkeypatch.setattr(a2a, "send_message", send_without_blocking)
    result = delegate(call, "uppercase: done", "ws-writing")
    assert result["answer"] == "DONE"
    monkeypatch.setattr(delegation, "TASK_TIMEOUT_S", 0.0)
    with pytest.raises(ToolError, match=r"still works.*check_task_status.*task-"):
        delegate(call, "uppercase: late", "ws-writing")


def test_delegation_timeouts_fit_into_the_tool_timeout() -> None:
    """The blocking request, the polling and the last request end within 300 seconds."""
    total = server.MAX_BLOCKING_S + delegation.TASK_TIMEOUT_S
    assert total + a2a.CALL_TIMEOUT_S <= 300


@pytest.mark.parametrize(
    ("source", "peer", "reason"),
    [
        ("ws-director", "ws-archive", "peers are the parent, the children"),
        ("ws-writing", "ws-archive", "peers are the parent, the children"),
        ("ws-director", "ws-harbor", "not a workspace of this organization"),
        ("ws-director", "ws-director", "the calling workspace itself"),
        ("ws-research", "ws-archive", "not running"),
    ],
)
def test_delegate_task_rejects_a_peer_that_the_source_workspace_cannot_reach(
    call: Call, source: str, peer: str, reason: str
) -> None:
    with pytest.raises(ToolError, match=reason):
        delegate(call, "echo: hello", peer, source)


@pytest.mark.parametrize("address", ["unused", "other-peer"])
def test_delegate_task_and_list_peers_treat_a_peer_with_an_outdated_address_as_offline(
    call: Call, address: str
) -> None:
    """The stored address of a crashed peer may be unused or another peer's."""
    other = registry.find("ws-writing")
    assert other is not None
    url = "http://127.0.0.1:9" if address == "unused" else other.url
    registry.set_url("ws-archive", url)
    try:
        with pytest.raises(ToolError, match="`ws-archive` does not respond"):
            delegate(call, "echo: anything", "ws-archive", "ws-research")
        peers = call("list_peers", source_workspace_id="ws-research")["peers"]
        status = {peer["id"]: peer["status"] for peer in peers}
    finally:
        registry.set_url("ws-archive", None)
    online = {"ws-director": "online", "ws-writing": "online"}
    assert status == {**online, "ws-archive": "offline"}

"""A workspace on the wire: A2A's shapes, and who may call."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from examples.molecule import a2a, cards, registry, server
from examples.molecule.registry import Workspace

pytestmark = pytest.mark.usefixtures("platform")


def _get(workspace_id: str) -> Workspace:
    workspace = registry.find(workspace_id)
    assert workspace is not None
    return workspace


def _post(
    content: bytes | str,
    *,
    caller: str = "ws-director",
    to: str = "ws-research",
    **headers: Any,
) -> Any:
    sent: dict[str, Any] = {
        a2a.WORKSPACE_HEADER: caller,
        "Authorization": f"Bearer {_get(caller).token}",
    } | headers
    url = f"{_get(to).url}/workspaces/{to}"
    return httpx.post(url, content=content, headers=sent, trust_env=False, timeout=10)


def _rpc(method: str, params: Any, **parts: Any) -> Any:
    body = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params} | parts
    answer = _post(json.dumps(body))
    assert answer.status_code == 200
    return answer.json()


def _sent(text: str) -> dict[str, Any]:
    return {
        "message": a2a.build_message("user", text),
        "configuration": {"blocking": True},
    }


def test_a_message_begins_a_task_with_an_artifact() -> None:
    reply = _rpc("message/send", _sent("echo: hello"))
    assert reply["id"] == "r1"
    task = reply["result"]
    assert task["kind"] == "task"
    assert task["status"]["state"] == "completed"
    assert task["artifacts"][0]["parts"] == [{"kind": "text", "text": "hello"}]
    assert _rpc("tasks/get", {"id": task["id"]})["result"] == task


def test_a_failed_task_says_why_in_its_status() -> None:
    task = _rpc("message/send", _sent("sing: la"))["result"]
    assert task["status"]["state"] == "failed"
    message = task["status"]["message"]
    assert message["role"] == "agent"
    assert "Research does only" in message["parts"][0]["text"]
    assert "artifacts" not in task


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tasks/cancel", {"id": "x"}, -32601),
        ("tasks/get", {"id": "task-unknown"}, -32001),
        ("tasks/get", {}, -32602),
        ("tasks/get", ["task-1"], -32602),
        ("message/send", {}, -32602),
        ("message/send", {"message": {"parts": []}}, -32602),
        ("message/send", {"message": {"parts": [{"kind": "file"}]}}, -32602),
        ("message/send", {"message": {"parts": ["text"]}}, -32602),
        ("message/send", _sent("echo: x") | {"configuration": 1}, -32602),
        ("message/send", {"message": {"taskId": "task-1"}}, -32004),
    ],
)
def test_a_bad_call_gets_its_error_code(method: str, params: Any, code: int) -> None:
    assert _rpc(method, params)["error"]["code"] == code


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"jsonrpc": "1.0", "method": "tasks/get"}', -32600),
        (b'{"jsonrpc": "2.0", "method": 1}', -32600),
        (b'{"jsonrpc": "2.0", "method": "tasks/get", "id": {}}', -32600),
    ],
)
def test_what_is_no_request_gets_its_error_code(body: bytes, code: int) -> None:
    reply = _post(body).json()
    assert (reply["error"]["code"], reply["id"]) == (code, None)


def test_a_body_without_end_is_cut_off() -> None:
    assert _post(b" " * (server.MAX_BODY_BYTES + 1)).status_code == 413


@pytest.mark.parametrize(
    "authorization", [b"", b"Bearer", b"Bearer wrong", b"Basic x", b"Bearer \xe9"]
)
def test_a_caller_without_its_token_is_unknown(authorization: bytes) -> None:
    assert _post(b"{}", Authorization=authorization).status_code == 401


def test_a_caller_with_another_s_token_is_unknown() -> None:
    token = _get("ws-writing").token
    assert _post(b"{}", Authorization=f"Bearer {token}").status_code == 401


@pytest.mark.parametrize(
    ("caller", "to"),
    [
        ("ws-harbor", "ws-research"),
        ("ws-harbor", "ws-director"),
        ("ws-archive", "ws-director"),
        ("ws-research", "ws-research"),
    ],
)
def test_the_server_itself_refuses_who_may_not_talk_to_it(caller: str, to: str) -> None:
    assert _post(b"{}", caller=caller, to=to).status_code == 403


def test_only_the_workspace_itself_can_shut_it_down() -> None:
    director = _get("ws-director")
    answer = httpx.post(
        f"{_get('ws-research').url}/shutdown",
        headers={
            a2a.WORKSPACE_HEADER: director.id,
            "Authorization": f"Bearer {director.token}",
        },
        trust_env=False,
    )
    assert answer.status_code == 403


def test_a_new_card_is_served_at_once_and_cannot_move_the_workspace() -> None:
    research = _get("ws-research")

    def served() -> Any:
        url = f"{research.url}/.well-known/agent-card.json"
        return httpx.get(url, trust_env=False).json()

    default = served()
    assert default["name"] == "Research"
    assert [skill["name"] for skill in default["skills"]] == list(research.skills)
    try:
        cards.replace_card(
            research, {"name": "R2", "url": "http://evil", "mood": "calm"}
        )
        card = served()
    finally:
        cards.replace_card(research, {})
    assert (card["name"], card["mood"]) == ("R2", "calm")
    assert card["url"] == f"{research.url}/workspaces/ws-research"
    assert served() == default


def test_a_workspace_listens_on_the_loopback_address_only() -> None:
    assert str(_get("ws-research").url).startswith("http://127.0.0.1:")

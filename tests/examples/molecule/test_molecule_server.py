"""HTTP server of a workspace: A2A requests, authentication and agent cards."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from examples.molecule import a2a, cards, registry, server
from examples.molecule.registry import Workspace

pytestmark = pytest.mark.usefixtures("platform")


def get_workspace(workspace_id: str) -> Workspace:
    workspace = registry.find(workspace_id)
    assert workspace is not None
    return workspace


def post(
    content: bytes | str,
    *,
    caller: str = "ws-director",
    to: str = "ws-research",
    **headers: Any,
) -> Any:
    """Send a request to a workspace's JSON-RPC endpoint, with the caller's token."""
    all_headers: dict[str, Any] = {
        a2a.WORKSPACE_HEADER: caller,
        "Authorization": f"Bearer {get_workspace(caller).token}",
    } | headers
    url = f"{get_workspace(to).url}/workspaces/{to}"
    return httpx.post(
        url, content=content, headers=all_headers, trust_env=False, timeout=10
    )


def call_method(method: str, params: Any, **parts: Any) -> Any:
    """Call a JSON-RPC method of the research workspace and return the response."""
    body = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params} | parts
    response = post(json.dumps(body))
    assert response.status_code == 200
    return response.json()


def build_params(text: str) -> dict[str, Any]:
    """Return the parameters of a blocking `message/send` request."""
    return {
        "message": a2a.build_message("user", text),
        "configuration": {"blocking": True},
    }


def test_a2a_message_send_returns_a_completed_task_with_a_text_artifact() -> None:
    reply = call_method("message/send", build_params("echo: hello"))
    assert reply["id"] == "r1"
    task = reply["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    assert task["artifacts"][0]["parts"] == [{"kind": "text", "text": "hello"}]
    assert call_method("tasks/get", {"id": task["id"]})["result"] == task


def test_failed_a2a_task_has_the_reason_in_its_status_message_and_no_artifacts() -> (
    None
):
    task = call_method("message/send", build_params("sing: la"))["result"]
    assert task["status"]["state"] == "failed"
    message = task["status"]["message"]
    assert message["role"] == "agent"
    assert "Research supports only" in message["parts"][0]["text"]
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
        ("message/send", build_params("echo: x") | {"configuration": 1}, -32602),
        ("message/send", {"message": {"taskId": "task-1"}}, -32004),
    ],
)
def test_invalid_a2a_method_or_params_return_the_json_rpc_error_code(
    method: str, params: Any, code: int
) -> None:
    assert call_method(method, params)["error"]["code"] == code


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
def test_malformed_json_rpc_body_returns_error_and_null_id(
    body: bytes, code: int
) -> None:
    reply = post(body).json()
    assert (reply["error"]["code"], reply["id"]) == (code, None)


def test_workspace_server_rejects_a_too_large_body_with_413() -> None:
    assert post(b" " * (server.MAX_BODY_BYTES + 1)).status_code == 413


def test_workspace_server_rejects_a_request_without_its_callers_token_with_401() -> (
    None
):
    other = f"Bearer {get_workspace('ws-writing').token}".encode()
    for authorization in (b"", b"Bearer", b"Basic x", b"Bearer \xe9", other):
        assert post(b"{}", Authorization=authorization).status_code == 401


@pytest.mark.parametrize(
    ("caller", "to"),
    [
        ("ws-harbor", "ws-research"),
        ("ws-harbor", "ws-director"),
        ("ws-archive", "ws-director"),
        ("ws-research", "ws-research"),
    ],
)
def test_workspace_server_rejects_a_caller_that_may_not_contact_it_with_403(
    caller: str, to: str
) -> None:
    assert post(b"{}", caller=caller, to=to).status_code == 403


def test_workspace_server_shutdown_by_another_workspace_is_rejected_with_403() -> None:
    director = get_workspace("ws-director")
    url = f"{get_workspace('ws-research').url}/shutdown"
    headers = {a2a.WORKSPACE_HEADER: director.id}
    headers["Authorization"] = f"Bearer {director.token}"
    response = httpx.post(url, headers=headers, trust_env=False)
    assert response.status_code == 403


def test_replaced_a2a_agent_card_is_served_but_cannot_change_the_url() -> None:
    research = get_workspace("ws-research")

    def read_card() -> Any:
        url = f"{research.url}/.well-known/agent-card.json"
        return httpx.get(url, trust_env=False).json()

    assert str(research.url).startswith("http://127.0.0.1:")
    default = read_card()
    assert default["name"] == "Research"
    assert [skill["name"] for skill in default["skills"]] == list(research.skills)
    try:
        changes = {"name": "R2", "url": "http://evil", "mood": "calm"}
        cards.replace_card(research, changes)
        card = read_card()
    finally:
        cards.replace_card(research, {})
    assert (card["name"], card["mood"]) == ("R2", "calm")
    assert card["url"] == f"{research.url}/workspaces/ws-research"
    assert read_card() == default

"""A2A 0.3 over JSON-RPC: the shapes on the wire and the client that asks a peer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from examples.molecule import store
from examples.molecule.registry import Workspace
from toolcast_runtime import ToolError

__all__ = [
    "CARD_PATH",
    "PROTOCOL_VERSION",
    "SPEAKER_HEADER",
    "get_task",
    "is_running",
    "message",
    "rpc_path",
    "send_message",
    "task",
    "text_of",
]

PROTOCOL_VERSION = "0.3.0"
CARD_PATH = "/.well-known/agent-card.json"
# Names the workspace that speaks, in calls and in answers.
SPEAKER_HEADER = "X-Workspace-Id"
PROBE_SECONDS = 2.0
CALL_SECONDS = 40.0


def rpc_path(workspace_id: str) -> str:
    """Where a workspace's server takes calls.

    The id is in it, so that an address that has gone to another workspace since it was
    noted leads nowhere, and never to the wrong one.
    """
    return f"/workspaces/{workspace_id}"


def message(role: str, text: str, context_id: str | None = None) -> dict[str, Any]:
    """An A2A Message with one text part; `role` is user or agent."""
    shape: dict[str, Any] = {
        "kind": "message",
        "role": role,
        "messageId": store.new_id("msg"),
        "parts": [{"kind": "text", "text": text}],
    }
    if context_id is not None:
        shape["contextId"] = context_id
    return shape


def task(
    task_id: str, context_id: str, state: str, updated_at: str, text: str | None
) -> dict[str, Any]:
    """An A2A Task; `text` is its artifact when completed, else its status message."""
    status: dict[str, Any] = {"state": state, "timestamp": updated_at}
    shape: dict[str, Any] = {
        "kind": "task",
        "id": task_id,
        "contextId": context_id,
        "status": status,
    }
    if text is not None and state == "completed":
        parts = [{"kind": "text", "text": text}]
        shape["artifacts"] = [{"artifactId": f"{task_id}-answer", "parts": parts}]
    elif text is not None:
        status["message"] = message("agent", text, context_id)
    return shape


def text_of(shape: Mapping[str, Any]) -> str | None:
    """All text of a Message or a Task; None when it has none yet."""
    if shape.get("kind") == "message":
        parts = shape.get("parts", [])
    elif "artifacts" in shape:
        parts = [part for item in shape["artifacts"] for part in item["parts"]]
    else:
        parts = shape.get("status", {}).get("message", {}).get("parts", [])
    texts = [part["text"] for part in parts if part.get("kind") == "text"]
    return "\n".join(texts) if texts else None


async def send_message(
    source: Workspace, peer: Workspace, text: str, *, blocking: bool
) -> dict[str, Any]:
    """Hands `text` to the peer; gives the Task it began, or its Message."""
    params = {
        "message": message("user", text),
        "configuration": {"blocking": blocking, "acceptedOutputModes": ["text/plain"]},
    }
    return await _call(source, peer, "message/send", params)


async def get_task(source: Workspace, peer: Workspace, task_id: str) -> dict[str, Any]:
    """The Task as the peer knows it now."""
    return await _call(source, peer, "tasks/get", {"id": task_id})


async def is_running(workspace: Workspace) -> bool:
    """True when this very workspace's agent card answers at its address."""
    if workspace.url is None:
        return False
    try:
        async with _client(PROBE_SECONDS) as client:
            answer = await client.get(workspace.url + CARD_PATH)
    except httpx.HTTPError:
        return False
    return bool(answer.headers.get(SPEAKER_HEADER) == workspace.id)


async def _call(
    source: Workspace, peer: Workspace, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    if peer.url is None:
        raise ToolError(f"`{peer.id}` is not running, so it cannot be asked.")
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        SPEAKER_HEADER: source.id,
        "Authorization": f"Bearer {source.token}",
    }
    try:
        async with _client(CALL_SECONDS) as client:
            answer = await client.post(
                peer.url + rpc_path(peer.id), json=body, headers=headers
            )
    except httpx.ConnectError as error:
        raise ToolError(f"`{peer.id}` does not answer; it is down.") from error
    except httpx.HTTPError as error:
        raise ToolError(
            f"The call to `{peer.id}` failed: {type(error).__name__}."
        ) from error
    if answer.status_code == 404:
        raise ToolError(f"`{peer.id}` does not answer; it is down.")
    if answer.status_code in (401, 403):
        raise ToolError(f"`{peer.id}` refuses calls from `{source.id}`.")
    if answer.status_code != 200:
        raise ToolError(f"`{peer.id}` answered with HTTP {answer.status_code}.")
    reply = answer.json()
    if "error" in reply:
        raise ToolError(f"`{peer.id}` refuses: {reply['error']['message']}")
    result: dict[str, Any] = reply["result"]
    return result


def _client(seconds: float) -> httpx.AsyncClient:
    # Peers are on this machine: no proxy of the environment comes in between.
    return httpx.AsyncClient(timeout=seconds, trust_env=False)

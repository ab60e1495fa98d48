"""A2A 0.3 over JSON-RPC: messages, tasks and the client that calls other workspaces."""

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
    "WORKSPACE_HEADER",
    "get_task",
    "is_running",
    "build_message",
    "get_rpc_path",
    "send_message",
    "build_task",
    "extract_text",
]

PROTOCOL_VERSION = "0.3.0"
CARD_PATH = "/.well-known/agent-card.json"
# Header with the id of the workspace that sends the request or response.
WORKSPACE_HEADER = "X-Workspace-Id"
PROBE_TIMEOUT_S = 2.0
CALL_TIMEOUT_S = 40.0


def get_rpc_path(workspace_id: str) -> str:
    """Return the URL path of a workspace's JSON-RPC endpoint.

    The path contains the id. If another workspace now listens at an outdated address, a
    call gets 404 instead of reaching the wrong workspace.
    """
    return f"/workspaces/{workspace_id}"


def build_message(
    role: str, text: str, context_id: str | None = None
) -> dict[str, Any]:
    """Return an A2A Message with one text part; `role` is `user` or `agent`."""
    result: dict[str, Any] = {
        "kind": "message",
        "role": role,
        "messageId": store.new_id("msg"),
        "parts": [{"kind": "text", "text": text}],
    }
    if context_id is not None:
        result["contextId"] = context_id
    return result


def build_task(
    task_id: str, context_id: str, state: str, updated_at: str, text: str | None
) -> dict[str, Any]:
    """Return an A2A Task.

    `text` is the artifact of a completed task, and the status message of any other
    task.
    """
    status: dict[str, Any] = {"state": state, "timestamp": updated_at}
    result: dict[str, Any] = {
        "kind": "task",
        "id": task_id,
        "contextId": context_id,
        "status": status,
    }
    if text is not None and state == "completed":
        parts = [{"kind": "text", "text": text}]
        result["artifacts"] = [{"artifactId": f"{task_id}-answer", "parts": parts}]
    elif text is not None:
        status["message"] = build_message("agent", text, context_id)
    return result


def extract_text(value: Mapping[str, Any]) -> str | None:
    """Return the text parts of a Message or Task, or None if it has none."""
    if value.get("kind") == "message":
        parts = value.get("parts", [])
    elif "artifacts" in value:
        parts = [part for item in value["artifacts"] for part in item["parts"]]
    else:
        parts = value.get("status", {}).get("message", {}).get("parts", [])
    texts = [part["text"] for part in parts if part.get("kind") == "text"]
    return "\n".join(texts) if texts else None


async def send_message(
    source: Workspace, peer: Workspace, text: str, *, blocking: bool
) -> dict[str, Any]:
    """Send `text` to a peer and return the resulting Task or Message.

    With `blocking`, the peer waits for the task for a limited time before it responds.
    """
    params = {
        "message": build_message("user", text),
        "configuration": {"blocking": blocking, "acceptedOutputModes": ["text/plain"]},
    }
    return await _call(source, peer, "message/send", params)


async def get_task(source: Workspace, peer: Workspace, task_id: str) -> dict[str, Any]:
    """Return the current Task from the peer."""
    return await _call(source, peer, "tasks/get", {"id": task_id})


async def is_running(workspace: Workspace) -> bool:
    """Return whether the workspace's own agent card is served at its address."""
    if workspace.url is None:
        return False
    try:
        async with _build_client(PROBE_TIMEOUT_S) as client:
            response = await client.get(workspace.url + CARD_PATH)
    except httpx.HTTPError:
        return False
    return bool(response.headers.get(WORKSPACE_HEADER) == workspace.id)


async def _call(
    source: Workspace, peer: Workspace, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    if peer.url is None:
        raise ToolError(f"`{peer.id}` is not running, so it cannot receive messages.")
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        WORKSPACE_HEADER: source.id,
        "Authorization": f"Bearer {source.token}",
    }
    try:
        async with _build_client(CALL_TIMEOUT_S) as client:
            response = await client.post(
                peer.url + get_rpc_path(peer.id), json=body, headers=headers
            )
    except httpx.ConnectError as error:
        raise ToolError(f"`{peer.id}` does not respond; it is down.") from error
    except httpx.HTTPError as error:
        raise ToolError(
            f"The call to `{peer.id}` failed: {type(error).__name__}."
        ) from error
    if response.status_code == 404:
        raise ToolError(f"`{peer.id}` does not respond; it is down.")
    if response.status_code in (401, 403):
        raise ToolError(f"`{peer.id}` does not accept calls from `{source.id}`.")
    if response.status_code != 200:
        raise ToolError(f"`{peer.id}` returned HTTP {response.status_code}.")
    reply = response.json()
    if "error" in reply:
        raise ToolError(f"`{peer.id}` returned an error: {reply['error']['message']}")
    result: dict[str, Any] = reply["result"]
    return result


def _build_client(seconds: float) -> httpx.AsyncClient:
    # Do not use the environment's proxy, because all workspaces run on this machine.
    return httpx.AsyncClient(timeout=seconds, trust_env=False)

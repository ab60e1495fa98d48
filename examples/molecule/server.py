"""HTTP server of a workspace: its agent card and A2A's JSON-RPC methods."""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from examples.molecule import a2a, cards, jsonrpc, peer_tasks, registry, skills, store
from examples.molecule.registry import Workspace

__all__ = ["WorkspaceServer"]

MAX_BODY_BYTES = 1024 * 1024
MAX_BLOCKING_S = 20.0

log = logging.getLogger(__name__)


class WorkspaceServer:
    """HTTP server of one workspace; `application` is the ASGI application.

    Every request except for the agent card needs the calling workspace's token, and is
    rejected if the two workspaces cannot talk to each other.
    """

    def __init__(self, workspace_id: str, url: str, stop: Callable[[], None]) -> None:
        self._id = workspace_id
        self._url = url
        self._stop = stop
        self._running: set[asyncio.Task[None]] = set()
        self.application = Starlette(
            routes=[
                Route(a2a.CARD_PATH, self._serve_card, methods=["GET"]),
                Route(
                    a2a.get_rpc_path(workspace_id), self._serve_rpc, methods=["POST"]
                ),
                Route("/shutdown", self._serve_shutdown, methods=["POST"]),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(peer_tasks.fail_unfinished, self._id)
        await asyncio.to_thread(registry.set_url, self._id, self._url)
        yield
        await asyncio.to_thread(registry.set_url, self._id, None)
        for running in self._running:
            running.cancel()

    async def _serve_card(self, _: Request) -> Response:
        workspace = await self._load_workspace()
        card = await asyncio.to_thread(cards.build_card, workspace)
        return JSONResponse(card, headers={a2a.WORKSPACE_HEADER: self._id})

    async def _serve_shutdown(self, request: Request) -> Response:
        caller = await self._authenticate(request)
        if caller is None or caller.id != self._id:
            return PlainTextResponse("Access denied.", status_code=403)
        self._stop()
        return Response(status_code=202)

    async def _serve_rpc(self, http: Request) -> Response:
        caller = await self._authenticate(http)
        if caller is None:
            return PlainTextResponse("Unknown caller.", status_code=401)
        workspace = await self._load_workspace()
        if not registry.can_talk(caller, workspace):
            return PlainTextResponse("Access denied.", status_code=403)
        body = await _read_body(http)
        if body is None:
            return PlainTextResponse("Too large.", status_code=413)
        request = None
        try:
            request = jsonrpc.parse_request(body)
            result = await self._dispatch(workspace, caller, request)
        except jsonrpc.RpcError as error:
            return JSONResponse(jsonrpc.build_error_response(request, error))
        return JSONResponse(jsonrpc.build_response(request, result))

    async def _dispatch(
        self, workspace: Workspace, caller: Workspace, request: jsonrpc.Request
    ) -> dict[str, Any]:
        if request.method == "message/send":
            return await self._send_message(workspace, caller, request.params)
        if request.method == "tasks/get":
            return await self._get_task(workspace, caller, request.params.get("id"))
        raise jsonrpc.RpcError(
            jsonrpc.METHOD_NOT_FOUND, f"Method not found: {request.method}"
        )

    async def _send_message(
        self, workspace: Workspace, caller: Workspace, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        text, context_id, blocking = _parse_message(params)
        if not workspace.answers:
            await asyncio.to_thread(peer_tasks.add_to_inbox, workspace, caller, text)
            note = (
                f"The message is in the inbox of {workspace.name}, which replies later."
            )
            return a2a.build_message("agent", note, context_id)
        task_id = await asyncio.to_thread(
            peer_tasks.start, workspace, caller, context_id, text
        )
        running = asyncio.create_task(_run_task(workspace, task_id, text))
        self._running.add(running)
        running.add_done_callback(self._running.discard)
        if blocking:
            await asyncio.wait({running}, timeout=MAX_BLOCKING_S)
        return await self._get_task(workspace, caller, task_id)

    async def _get_task(
        self, workspace: Workspace, caller: Workspace, task_id: object
    ) -> dict[str, Any]:
        if not isinstance(task_id, str):
            raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`id` is missing.")
        task = await asyncio.to_thread(peer_tasks.find, workspace, caller, task_id)
        if task is None:
            raise jsonrpc.RpcError(
                jsonrpc.TASK_NOT_FOUND, f"The caller has no task `{task_id}`."
            )
        return task

    async def _load_workspace(self) -> Workspace:
        workspace = await asyncio.to_thread(registry.find, self._id)
        if workspace is None:
            raise RuntimeError(f"{self._id} is no longer registered")
        return workspace

    async def _authenticate(self, http: Request) -> Workspace | None:
        claimed = http.headers.get(a2a.WORKSPACE_HEADER, "")
        scheme, _, token = http.headers.get("Authorization", "").partition(" ")
        caller = await asyncio.to_thread(registry.find, claimed)
        if caller is None or scheme.lower() != "bearer":
            return None
        is_valid = hmac.compare_digest(token.encode(), caller.token.encode())
        return caller if is_valid else None


async def _run_task(workspace: Workspace, task_id: str, text: str) -> None:
    await asyncio.sleep(workspace.delay)
    try:
        answer = await asyncio.to_thread(skills.run_skill, workspace, text)
        state = "completed"
    except skills.SkillError as error:
        answer, state = str(error), "failed"
    except Exception:
        log.exception("%s: %s failed", workspace.id, task_id)
        answer, state = "The worker failed; see its log.", "failed"
    await asyncio.to_thread(peer_tasks.finish, task_id, state, answer)


def _parse_message(params: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Return text, context id and `blocking` from the `message/send` parameters."""
    message = params.get("message")
    if not isinstance(message, dict):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`message` is missing.")
    if "taskId" in message:
        raise jsonrpc.RpcError(
            jsonrpc.UNSUPPORTED_OPERATION, "A task accepts no further messages."
        )
    parts = message.get("parts")
    if not isinstance(parts, list) or not parts:
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`parts` is missing.")
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    lines = [text for text in texts if isinstance(text, str)]
    if len(lines) != len(parts):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "Only text parts are supported.")
    configuration = params.get("configuration", {})
    if not isinstance(configuration, dict):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`configuration` is malformed.")
    context_id = message.get("contextId")
    if not isinstance(context_id, str):
        context_id = store.new_id("context")
    return "\n".join(lines), context_id, configuration.get("blocking", True) is True


async def _read_body(http: Request) -> bytes | None:
    """Return the request's body, or None if it is too large."""
    collected = bytearray()
    async for chunk in http.stream():
        collected += chunk
        if len(collected) > MAX_BODY_BYTES:
            return None
    return bytes(collected)

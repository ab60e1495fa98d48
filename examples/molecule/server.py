"""The HTTP side of a workspace: its agent card and A2A's JSON-RPC methods."""

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

MAX_BODY = 1024 * 1024
MAX_BLOCKING_SECONDS = 20.0

log = logging.getLogger(__name__)


class WorkspaceServer:
    """Answers for one workspace; `application` is the ASGI application.

    Every call but the card's proves by its token which workspace it comes from, and is
    refused where the access rule does not let the two talk.
    """

    def __init__(self, workspace_id: str, url: str, stop: Callable[[], None]) -> None:
        self._id = workspace_id
        self._url = url
        self._stop = stop
        self._work: set[asyncio.Task[None]] = set()
        self.application = Starlette(
            routes=[
                Route(a2a.CARD_PATH, self._card, methods=["GET"]),
                Route(a2a.rpc_path(workspace_id), self._rpc, methods=["POST"]),
                Route("/shutdown", self._shutdown, methods=["POST"]),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        await asyncio.to_thread(peer_tasks.abandon_unfinished, self._id)
        await asyncio.to_thread(registry.set_url, self._id, self._url)
        yield
        await asyncio.to_thread(registry.set_url, self._id, None)
        for running in self._work:
            running.cancel()

    async def _card(self, _: Request) -> Response:
        workspace = await self._workspace()
        card = await asyncio.to_thread(cards.served, workspace)
        return JSONResponse(card, headers={a2a.SPEAKER_HEADER: self._id})

    async def _shutdown(self, request: Request) -> Response:
        caller = await self._caller(request)
        if caller is None or caller.id != self._id:
            return PlainTextResponse("Only the workspace itself.", status_code=403)
        self._stop()
        return Response(status_code=202)

    async def _rpc(self, http: Request) -> Response:
        caller = await self._caller(http)
        if caller is None:
            return PlainTextResponse("Unknown caller.", status_code=401)
        workspace = await self._workspace()
        if not registry.may_talk(caller, workspace):
            return PlainTextResponse("Not within reach.", status_code=403)
        body = await _body(http)
        if body is None:
            return PlainTextResponse("Too large.", status_code=413)
        request = None
        try:
            request = jsonrpc.read(body)
            result = await self._answer(workspace, caller, request)
        except jsonrpc.RpcError as error:
            return JSONResponse(jsonrpc.failure(request, error))
        return JSONResponse(jsonrpc.success(request, result))

    async def _answer(
        self, workspace: Workspace, caller: Workspace, request: jsonrpc.Request
    ) -> dict[str, Any]:
        if request.method == "message/send":
            return await self._send(workspace, caller, request.params)
        if request.method == "tasks/get":
            return await self._get(workspace, caller, request.params.get("id"))
        raise jsonrpc.RpcError(
            jsonrpc.METHOD_NOT_FOUND, f"No such method: {request.method}"
        )

    async def _send(
        self, workspace: Workspace, caller: Workspace, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        text, context_id, blocking = _message(params)
        if not workspace.answers:
            await asyncio.to_thread(peer_tasks.leave_in_inbox, workspace, caller, text)
            note = f"{workspace.name} has it in the inbox and will come back to it."
            return a2a.message("agent", note, context_id)
        task_id = await asyncio.to_thread(
            peer_tasks.begin, workspace, caller, context_id, text
        )
        running = asyncio.create_task(_do(workspace, task_id, text))
        self._work.add(running)
        running.add_done_callback(self._work.discard)
        if blocking:
            await asyncio.wait({running}, timeout=MAX_BLOCKING_SECONDS)
        return await self._get(workspace, caller, task_id)

    async def _get(
        self, workspace: Workspace, caller: Workspace, task_id: object
    ) -> dict[str, Any]:
        if not isinstance(task_id, str):
            raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`id` is missing.")
        found = await asyncio.to_thread(peer_tasks.find, workspace, caller, task_id)
        if found is None:
            raise jsonrpc.RpcError(
                jsonrpc.TASK_NOT_FOUND, f"It has no task `{task_id}` of the caller."
            )
        return found

    async def _workspace(self) -> Workspace:
        workspace = await asyncio.to_thread(registry.find, self._id)
        if workspace is None:
            raise RuntimeError(f"{self._id} is no longer registered")
        return workspace

    async def _caller(self, http: Request) -> Workspace | None:
        claimed = http.headers.get(a2a.SPEAKER_HEADER, "")
        scheme, _, token = http.headers.get("Authorization", "").partition(" ")
        caller = await asyncio.to_thread(registry.find, claimed)
        if caller is None or scheme.lower() != "bearer":
            return None
        known = hmac.compare_digest(token.encode(), caller.token.encode())
        return caller if known else None


async def _do(workspace: Workspace, task_id: str, text: str) -> None:
    await asyncio.sleep(workspace.delay)
    try:
        answer = await asyncio.to_thread(skills.work, workspace, text)
        state = "completed"
    except skills.SkillError as reason:
        answer, state = str(reason), "failed"
    except Exception:
        log.exception("%s: %s failed", workspace.id, task_id)
        answer, state = "The worker broke down; its log says why.", "failed"
    await asyncio.to_thread(peer_tasks.finish, task_id, state, answer)


def _message(params: Mapping[str, Any]) -> tuple[str, str, bool]:
    """Text, context and whether to wait, of the parameters of `message/send`."""
    message = params.get("message")
    if not isinstance(message, dict):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`message` is missing.")
    if "taskId" in message:
        raise jsonrpc.RpcError(
            jsonrpc.UNSUPPORTED_OPERATION, "A task takes no further messages."
        )
    parts = message.get("parts")
    if not isinstance(parts, list) or not parts:
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`parts` is missing.")
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    lines = [text for text in texts if isinstance(text, str)]
    if len(lines) != len(parts):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "Only text parts are read.")
    configuration = params.get("configuration", {})
    if not isinstance(configuration, dict):
        raise jsonrpc.RpcError(jsonrpc.INVALID_PARAMS, "`configuration` is malformed.")
    context_id = message.get("contextId")
    if not isinstance(context_id, str):
        context_id = store.new_id("context")
    return "\n".join(lines), context_id, configuration.get("blocking", True) is True


async def _body(http: Request) -> bytes | None:
    """The request's body; None when it is too large."""
    collected = bytearray()
    async for chunk in http.stream():
        collected += chunk
        if len(collected) > MAX_BODY:
            return None
    return bytes(collected)

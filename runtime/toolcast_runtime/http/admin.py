"""Paths for administrators, behind a token of their own."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from .guard import AsgiApp, Receive, Send

__all__ = ["AdminAnswer", "AdminRequest", "AdminRoute", "admin_app"]

_logger = logging.getLogger("toolcast.http")


@dataclass(frozen=True, slots=True)
class AdminRequest:
    """What an administrator asks.

    Attributes:
        body: the request's JSON; None when its body is empty.
    """

    body: Any = None


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """What an administrator gets: a JSON value and the status."""

    value: Any
    status: int = 200


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """One path for administrators.

    Attributes:
        method: the HTTP method.
        path: the whole path.
        answer: does the work. The text of what it raises stays in the log.
    """

    method: str
    path: str
    answer: Callable[[AdminRequest], Awaitable[AdminAnswer]] = field(repr=False)


def admin_app(route: AdminRoute) -> AsgiApp:
    """The ASGI application of a path; whoever gets here has the token."""

    async def app(
        scope: MutableMapping[str, Any], receive: Receive, send: Send
    ) -> None:
        text = (await receive()).get("body", b"")
        try:
            body = json.loads(text) if text.strip() else None
        except (ValueError, RecursionError):
            await _send(send, AdminAnswer({"error": "the body is not JSON"}, 400))
            return
        try:
            answer = await route.answer(AdminRequest(body))
        except Exception:
            _logger.exception("%s %s failed", route.method, route.path)
            answer = AdminAnswer({"error": "it failed; the log says why"}, 500)
        await _send(send, answer)

    return app


async def _send(send: Send, answer: AdminAnswer) -> None:
    body = json.dumps(answer.value, ensure_ascii=False).encode("utf-8", "replace")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send(
        {"type": "http.response.start", "status": answer.status, "headers": headers}
    )
    await send({"type": "http.response.body", "body": body})

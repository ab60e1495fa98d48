"""Handlers that return the context of their call."""

from __future__ import annotations

import time
from typing import Any

from toolcast_runtime import current_call


def _describe_call() -> dict[str, Any]:
    call = current_call()
    assert call.deadline is not None
    return {
        "tool": call.tool,
        "client": call.client,
        "user": call.user,
        "claims": dict(call.claims),
        "headers": dict(call.headers),
        "request_id": call.request_id,
        "session": call.session,
        "is_in_time": 0 < call.deadline - time.monotonic() <= 60,
    }


def in_thread() -> dict[str, Any]:
    return _describe_call()


async def in_loop() -> dict[str, Any]:
    return _describe_call()


async def guarded() -> dict[str, Any]:
    return _describe_call()

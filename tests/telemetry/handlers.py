"""Handlers of the tools in these tests."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcast_runtime import ToolError


def give(arguments: dict[str, Any]) -> str:
    """Return a result."""
    return "s3cret answer"


def fail(arguments: dict[str, Any]) -> str:
    """Raise an expected error."""
    raise ToolError("s3cret reason")


def crash(arguments: dict[str, Any]) -> str:
    """Raise an unexpected error."""
    raise ValueError("s3cret\n2026-11-23T00:00:00.000+00:00 INFO forged")


async def wait(arguments: dict[str, Any]) -> str:
    """Wait longer than the timeout of the tool."""
    await asyncio.sleep(60)
    return "late"


async def call_other(arguments: dict[str, Any]) -> object:
    """Call another tool."""
    registry = STATE["registry"]
    return (await registry.call_tool("give", {}, "desk")).result


STATE: dict[str, Any] = {}
"""The registry of the test, for the handler `call_other`."""

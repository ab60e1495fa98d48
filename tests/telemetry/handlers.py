"""What the tools of these tests do."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcast_runtime import ToolError


def give(arguments: dict[str, Any]) -> str:
    """Answers."""
    return "s3cret answer"


def fail(arguments: dict[str, Any]) -> str:
    """Says why not."""
    raise ToolError("s3cret reason")


def crash(arguments: dict[str, Any]) -> str:
    """Has a fault."""
    raise ValueError("s3cret\n2026-11-23T00:00:00.000+00:00 INFO forged")


async def wait(arguments: dict[str, Any]) -> str:
    """Takes longer than the tool may."""
    await asyncio.sleep(60)
    return "late"


async def ask_another(arguments: dict[str, Any]) -> object:
    """Has another tool answer."""
    registry = OWN["registry"]
    return (await registry.call_tool("give", {}, "desk")).result


OWN: dict[str, Any] = {}
"""The registry of a test, for the handler that calls it."""

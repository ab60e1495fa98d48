"""What the tools of these tests do."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcast_runtime import ToolError


def give(note: str = "") -> str:
    """Answers."""
    return "s3cret answer"


def fail(note: str = "") -> str:
    """Says why not."""
    raise ToolError("s3cret reason")


def crash(note: str = "") -> str:
    """Has a fault."""
    raise ValueError("s3cret\n2026-11-23T00:00:00.000+00:00 INFO forged")


async def wait(note: str = "") -> str:
    """Takes longer than the tool may."""
    await asyncio.sleep(60)
    return "late"


async def ask_another(note: str = "") -> object:
    """Has another tool answer."""
    registry = OWN["registry"]
    return (await registry.call_tool("give", {}, "desk")).result


OWN: dict[str, Any] = {}
"""The registry of a test, for the handler that calls it."""

"""Handlers of resources and MCP prompts."""

from __future__ import annotations

import asyncio
from typing import Any

from toolcast_runtime import ToolError, current_call, image, link


def report(region: str, month: str) -> str | None:
    current_call().progress(1, 2, "reading")
    return None if month == "13" else f"{region},{month}"


async def page(path: str, part: str = "all") -> bytes:
    await asyncio.sleep(0)
    return f"{path} {part}".encode()


def failing(kind: str) -> Any:
    if kind == "expected":
        raise ToolError("The archive is closed.")
    if kind == "secret":
        raise RuntimeError("password=hunter2")
    return {"neither": "text nor bytes"}


def illustrate(order_id: str, tone: str = "plain") -> list[Any]:
    client = current_call().client
    current_call().progress(1, 2, "writing")
    answer = {
        "role": "assistant",
        "content": f"{order_id} in a {tone} tone for {client}",
    }
    notes = link("notes.txt", content="Fragile.")
    return ["Look at this.", image(b"\x89PNG"), answer, notes]


def mute() -> list[Any]:
    return [{"role": "system", "content": "Obey."}]

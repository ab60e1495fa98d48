"""What resources hold and prompts say."""

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


def failing(how: str) -> Any:
    if how == "told":
        raise ToolError("The archive is closed.")
    if how == "secret":
        raise RuntimeError("password=hunter2")
    return {"neither": "text nor bytes"}


def shown(order_id: str, tone: str = "plain") -> list[Any]:
    who = current_call().client
    current_call().progress(1, 2, "writing")
    answer = {"role": "assistant", "content": f"{order_id} in a {tone} tone for {who}"}
    notes = link("notes.txt", content="Fragile.")
    return ["Look at this.", image(b"\x89PNG"), answer, notes]


def mute() -> list[Any]:
    return [{"role": "system", "content": "Obey."}]

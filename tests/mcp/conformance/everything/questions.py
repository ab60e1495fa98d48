"""Handlers of the conformance suite's tools that ask the user."""

from __future__ import annotations

from typing import Any

from toolcast_runtime import current_call


def form(field: str, kind: str = "string") -> dict[str, Any]:
    properties = {field: {"type": kind}}
    return {"type": "object", "properties": properties, "required": [field]}


async def elicitation() -> str:
    call = current_call()
    answer = await call.ask(form("name"), "What is your name?", name="user_name")
    return f"Hello, {answer['name']}!"


async def request_state() -> str:
    ask = current_call().ask
    await ask(form("ok", "boolean"), "Please confirm", name="confirm")
    return "state-ok"


async def tampered_state() -> str:
    ask = current_call().ask
    await ask(form("ok", "boolean"), "Please confirm", name="confirm")
    return "the state was not tampered with"


async def multi_round() -> str:
    ask = current_call().ask
    user = await ask(form("name"), "Step 1: What is your name?", name="step1")
    taste = await ask(
        form("color"), "Step 2: What is your favorite color?", name="step2"
    )
    return f"{user['name']} likes {taste['color']}"


async def streaming() -> str:
    call = current_call()
    await call.progress(1, 2)
    answer = await call.ask(form("name"), "What is your name?", name="user_name")
    return f"Hello, {answer['name']}!"

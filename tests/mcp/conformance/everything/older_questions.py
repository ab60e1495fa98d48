"""Handlers of the conformance suite's tools that test `elicitation/create`."""

from __future__ import annotations

from typing import Any

from toolcast_runtime import current_call


async def ask_user(message: str, *required: str, **fields: dict[str, Any]) -> str:
    form = {"type": "object", "properties": fields, "required": [*required]}
    return f"accept: {await current_call().ask(form, message)}"


async def elicitation(*, message: str) -> str:
    text = {"type": "string"}
    return await ask_user(message, "username", "email", username=text, email=text)


async def defaults() -> str:
    states = ["active", "inactive", "pending"]
    return await ask_user(
        "Who are you?",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": states, "default": "active"},
        verified={"type": "boolean", "default": True},
    )


async def choices() -> str:
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    old = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    return await ask_user(
        "Which ones?",
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", **old},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )

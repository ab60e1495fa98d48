"""The source of an agent's next step: the test's script or the configured model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import RequestRefusedError
from .rows import Agent, Tool

__all__ = ["Script", "next_step"]

Script = list[dict[str, Any]]
"""The steps of the model in order: `{"tool": name, "args": {...}}` or `{"text": ...}`."""


def next_step(
    agent: Agent, offered: Sequence[Tool], script: Script, *, is_begun: bool
) -> Mapping[str, Any] | None:
    """Return the next step of a turn, or None at the end of the script.

    Args:
        offered: the tools that the model may call.
        is_begun: whether the script provided the turn's first step.

    Raises:
        RequestRefusedError: the configured model does not answer.
    """
    if script:
        return script.pop(0)
    endpoint = agent.llm_config.get("model_endpoint")
    return None if is_begun or endpoint is None else _request_step(endpoint, offered)


def _request_step(endpoint: str, offered: Sequence[Tool]) -> Mapping[str, Any]:
    import httpx

    functions = [
        {"type": "function", "function": tool.json_schema | {"name": tool.name}}
        for tool in offered
    ]
    body = {"model": "fake", "messages": [], "tools": functions}
    try:
        answer = httpx.post(f"{endpoint}/chat/completions", json=body, timeout=20)
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise RequestRefusedError(500, "An unknown error occurred") from error
    message = answer.json()["choices"][0]["message"]
    if not message.get("tool_calls"):
        return {"text": message["content"]}
    call = message["tool_calls"][0]
    arguments = json.loads(call["function"]["arguments"])
    return {
        "tool": call["function"]["name"],
        "args": {k: v for k, v in arguments.items() if k != "thinking"},
        "id": call["id"],
    }

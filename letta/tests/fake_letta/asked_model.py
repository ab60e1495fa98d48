"""Where an agent's next step comes from: the test's script, or the model of its config."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from .refused import RequestRefusedError
from .rows import Agent, Tool

__all__ = ["Script", "next_step"]

Script = list[dict[str, Any]]
"""What the model does in order: `{"tool": name, "args": {...}}` or `{"text": ...}`."""


def next_step(
    agent: Agent, offered: Sequence[Tool], script: Script, *, is_begun: bool
) -> Mapping[str, Any] | None:
    """The next step of a turn.

    Args:
        offered: the tools that the model may call.
        is_begun: the script gave the turn's first step, and gives the others.

    Returns:
        None when the script is at its end.

    Raises:
        RequestRefusedError: the model of the agent's config gives no answer.
    """
    if script:
        return script.pop(0)
    endpoint = agent.llm_config.get("model_endpoint")
    return None if is_begun or endpoint is None else _asked(endpoint, offered)


def _asked(endpoint: str, offered: Sequence[Tool]) -> Mapping[str, Any]:
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

"""An agent loop: select tools for a message, query the model, run its tool calls.

It works with any OpenAI-compatible endpoint, and calls local tools and tools of
external servers as functions.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx

from generated.kirishima import prompts, registry

from .get_personality import CALLING_MODEL
from .manage_prompt import list_active_lines

MAX_TURNS = 8
DEFAULT_CLIENT = "internal"


async def respond(
    message: str, *, history: Sequence[str] = (), client: str = DEFAULT_CLIENT
) -> str:
    """Return the model's answer to a message after it has called tools.

    The environment variables `BRAIN_URL` (such as Ollama's
    `http://127.0.0.1:11434/v1`), `BRAIN_MODEL` and `BRAIN_KEY` set the endpoint, the
    model and an optional API key.

    Raises:
        httpx.HTTPError: the endpoint cannot be reached or returns an error.
        RuntimeError: the model still calls tools after `MAX_TURNS` turns.
    """
    catalog = await registry.get_routed_tools_catalog(client)
    names = await registry.route_tools(message, catalog, history=history)
    tools = await registry.get_always_tools(client)
    tools += await registry.get_openai_tools_by_names(names, client)
    tool_names = [tool["function"]["name"] for tool in tools]
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": build_system_prompt(tool_names, client)},
        *({"role": "user", "content": text} for text in (*history, message)),
    ]
    key = os.environ.get("BRAIN_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    url = f"{os.environ['BRAIN_URL'].rstrip('/')}/chat/completions"
    model = os.environ["BRAIN_MODEL"]
    async with httpx.AsyncClient(headers=headers, timeout=120) as endpoint:
        for _ in range(MAX_TURNS):
            request = {"model": model, "messages": messages, "tools": tools}
            response = (
                (await endpoint.post(url, json=request)).raise_for_status().json()
            )
            answer = response["choices"][0]["message"]
            messages.append(answer)
            if not answer.get("tool_calls"):
                return str(answer["content"])
            calls = (
                _run_tool_call(call, client, model) for call in answer["tool_calls"]
            )
            messages += await asyncio.gather(*calls)
    raise RuntimeError(f"the model still calls tools after {MAX_TURNS} turns")


def build_system_prompt(tool_names: Iterable[str], client: str = DEFAULT_CLIENT) -> str:
    """Return the system prompt: the assistant's prompt lines and the tools' guidance.

    It is built for each message, so a line that `manage_prompt` adds applies from the
    next message on. Only the client `internal` gets the prompt lines.
    """
    lines = list_active_lines() if client == DEFAULT_CLIENT else []
    own_lines = "## Your own prompt lines\n\n" + "".join(
        f"- {line}\n" for line in lines
    )
    parts = [
        "You are a personal assistant. Base your answers on the results of your tools.\n",
        own_lines if lines else "",
        prompts.guidance(tool_names, client),
    ]
    return "\n".join(part for part in parts if part)


async def _run_tool_call(
    call: Mapping[str, Any], client: str, model: str
) -> dict[str, Any]:
    """Run a tool call and return the message with its result or error."""
    # `asyncio.gather` runs each call as a task with its own context, so set it here.
    CALLING_MODEL.set(model)
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except ValueError:
        result: dict[str, Any] = {"error": "the arguments are not JSON"}
    else:
        answer = await registry.call_tool(function["name"], arguments, client)
        result = answer.model_dump()
    content = json.dumps(result, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


if __name__ == "__main__":
    print(asyncio.run(respond(" ".join(sys.argv[1:]))))

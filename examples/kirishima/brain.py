"""A brain in sixty lines: message -> tools and prompt -> model -> calls -> answer.

Kirishima's loop against any OpenAI-compatible endpoint. It calls tools as functions, its own
and those of external servers alike, and speaks HTTP with the model only.
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
from .manage_prompt import lines_in_force

MOST_TURNS = 8
OWN_CLIENT = "internal"


async def think(
    message: str, *, history: Sequence[str] = (), client: str = OWN_CLIENT
) -> str:
    """The model's answer to a message, once it has called what it wanted to call.

    `BRAIN_URL`, `BRAIN_MODEL` and `BRAIN_KEY` name the endpoint, such as Ollama's
    `http://127.0.0.1:11434/v1`, the model, and its key where one is needed.

    Raises:
        httpx.HTTPError: the endpoint cannot be reached, or refuses.
        RuntimeError: the model still calls tools after `MOST_TURNS` turns.
    """
    catalog = await registry.get_routed_tools_catalog(client)
    names = await registry.route_tools(message, catalog, history=history)
    tools = await registry.get_always_tools(client)
    tools += await registry.get_openai_tools_by_names(names, client)
    offered = [tool["function"]["name"] for tool in tools]
    said: list[dict[str, Any]] = [
        {"role": "system", "content": system_prompt(offered, client)},
        *({"role": "user", "content": text} for text in (*history, message)),
    ]
    key = os.environ.get("BRAIN_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    url = f"{os.environ['BRAIN_URL'].rstrip('/')}/chat/completions"
    model = os.environ["BRAIN_MODEL"]
    async with httpx.AsyncClient(headers=headers, timeout=120) as endpoint:
        for _ in range(MOST_TURNS):
            asked = {"model": model, "messages": said, "tools": tools}
            reply = (await endpoint.post(url, json=asked)).raise_for_status().json()
            answer = reply["choices"][0]["message"]
            said.append(answer)
            if not answer.get("tool_calls"):
                return str(answer["content"])
            calls = (_called(call, client, model) for call in answer["tool_calls"])
            said += await asyncio.gather(*calls)
    raise RuntimeError(f"the model still calls tools after {MOST_TURNS} turns")


def system_prompt(offered: Iterable[str], client: str = OWN_CLIENT) -> str:
    """What the model is told before a request: of its lines, and of the tools it gets.

    It is made anew for each message, so that a line which `manage_prompt` adds holds from
    the next turn on. The lines are the assistant's own: no other client gets them.
    """
    lines = lines_in_force() if client == OWN_CLIENT else []
    own = "## Lines you gave yourself\n\n" + "".join(f"- {line}\n" for line in lines)
    parts = [
        "You are a personal assistant. Answer with what your tools gave you.\n",
        own if lines else "",
        prompts.guidance(offered, client),
    ]
    return "\n".join(part for part in parts if part)


async def _called(call: Mapping[str, Any], client: str, model: str) -> dict[str, Any]:
    """The message that answers one tool call; what is wrong with it is told the model."""
    # Each of the calls is a task, with a context of its own.
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
    print(asyncio.run(think(" ".join(sys.argv[1:]))))

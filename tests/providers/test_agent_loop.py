"""An agent loop with the OpenAI SDK and its types, as in the documentation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from generated.kirishima.provider_lists import get_provider_tools
from generated.kirishima.registry import call_tool


@pytest.mark.slow
async def test_openai_sdk_agent_loop_sends_function_results_to_the_model() -> None:
    import httpx2
    from openai import AsyncOpenAI
    from openai.types.responses import ResponseInputParam

    client = "internal"
    tool_list = await get_provider_tools("openai-responses", client)
    form = next(
        rendered
        for rendered in tool_list.rendered
        if rendered.tool.name == "stickynotes"
    )
    assert form.is_strict and form.is_deferred
    sent = {**dict.fromkeys(form.parameters.schema["required"]), "action": "list"}
    requests = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(json.loads(request.content))
        call: dict[str, Any] = {
            "type": "function_call",
            "call_id": "c1",
            "namespace": form.tool.section,
            "name": form.name,
            "arguments": json.dumps(sent),
        }
        outputs = [call] if len(requests) == 1 else []
        return httpx2.Response(200, json={"id": "r", "output": outputs})

    transport = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    openai = AsyncOpenAI(api_key="none", http_client=transport)
    messages: ResponseInputParam = [{"role": "user", "content": "What is due?"}]
    for _ in range(2):
        response = await openai.responses.create(
            model="m", input=messages, tools=tool_list.tools
        )
        for item in response.output:
            if item.type == "function_call":
                messages.append(item.to_dict())  # type: ignore[arg-type]
                call = tool_list.call(item.name, item.arguments)
                assert call == ("stickynotes", {"action": "list"})
                result = await call_tool(*call, client)
                messages.append(tool_list.answer(result, item.name, item.call_id))
    assert requests[0]["tools"] == tool_list.tools
    assert json.loads(requests[1]["input"][-1]["output"])["action"] == "list"

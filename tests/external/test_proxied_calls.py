"""Responses of proxied calls: results, errors, content blocks and faults of the server.

The server is `servers/odd.py`; its tools have specs, so that its own list is not read.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.external.conftest import (
    WAIT_TIMEOUT_S,
    Open,
    find_processes,
    odd_server,
)
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry, ToolResponse
from toolcast_runtime.core.server_settings import resolve_server
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import open_session
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp.results import build_call_result

PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


def text(content: str) -> dict[str, Any]:
    return {"type": "text", "text": content}


Make = Callable[..., Registry]


@pytest.fixture
def make_registry(open_tools: Open, tmp_path: Path) -> Make:
    """Return a function that creates a registry of proxied tools, by default of `odd`."""

    def make(
        *specs: dict[str, Any], mode: str = "well", args: str = "", **options: Any
    ) -> Registry:
        names = ("echo", "answer", "ask", "die", "hang", "secret")
        tools = specs or [definition(name, proxy="odd") for name in names]
        package = Package(tmp_path, *tools).load()
        servers = [odd_server(mode, *args.split(), is_proxied=True, **options)]
        servers.append(odd_server("well", name="two", prefix="my_", is_proxied=True))
        return Registry(package, providers=[open_tools(*servers)])

    return make


async def answer(registry: Registry, **result: Any) -> ToolResponse:
    """Call the tool `answer`, which returns this result."""
    return await registry.call_tool("answer", {"result": result})


async def test_proxied_call_returns_text_or_structured_content_as_result(
    make_registry: Make,
) -> None:
    registry = make_registry()
    assert (await answer(registry, content=[])).result == ""
    content = [text("a"), PIXEL]
    response = await answer(registry, content=content, structuredContent={"pages": 3})
    assert (response.result, response.content) == ({"pages": 3}, content)
    assert (await answer(registry, content=[text("a"), text("b")])).result == "a\nb"


async def test_unknown_fields_in_an_mcp_content_block_are_dropped(
    make_registry: Make,
) -> None:
    known_fields = {"annotations": {"priority": 1.0}, "_meta": {"a.example/b": [1]}}
    block = {**text("a"), **known_fields, "shade": "red"}
    response = await answer(make_registry(), content=[block], hue="blue")
    assert response.content == [{**text("a"), **known_fields}]


async def test_proxied_call_in_2026_07_28_returns_arrays_and_refuses_input_requests(
    make_registry: Make,
) -> None:
    registry = make_registry(mode="newest")
    complete = {"resultType": "complete", "content": [text("[1]")]}
    assert (await answer(registry, **complete, structuredContent=[1])).result == [1]
    input_required = {
        "resultType": "input_required",
        "requestState": "s",
        "inputRequests": {},
    }
    response = await answer(registry, **input_required)
    assert response.error == (
        "the tool requests input during the call, and no user can be asked"
    )


async def test_proxied_call_answers_repeated_input_requests_up_to_a_limit() -> None:
    """The server answers each round with the same input request."""
    messages: list[str] = []

    async def ask(
        context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        messages.append(params.message)
        return types.ElicitResult(action="accept", content={"city": "Rome"})

    form = {"type": "object", "properties": {"city": {"type": "string"}}}
    params = {"mode": "form", "message": "Where?", "requestedSchema": form}
    input_requests = {"where": {"method": "elicitation/create", "params": params}}
    input_required = {"resultType": "input_required", "inputRequests": input_requests}
    server = odd_server("newest")
    async with open_session(server, resolve_server(server, os.environ), ask) as session:
        with pytest.raises(RequestRefusedError) as refused:
            await session.call("answer", {"result": input_required})
    rounds = re.fullmatch(
        r"the tool requested input more than (\d+) times", str(refused.value)
    )
    assert rounds is not None
    assert messages == ["Where?"] * int(rounds[1])


@pytest.mark.parametrize(
    ("content", "fields", "error", "has_content"),
    [
        ([text("jammed")], {}, "jammed", False),
        ([text("jammed"), PIXEL], {}, "jammed", True),
        ([PIXEL], {}, "the tool failed", True),
        ([], {}, "the tool failed", False),
        ([], {"structuredContent": {"code": 5}}, '{"code": 5}', True),
        ([text("jammed")], {"structuredContent": {"code": 5}}, "jammed", True),
    ],
)
async def test_proxied_call_error_includes_its_text_and_content(
    make_registry: Make,
    content: list[Any],
    fields: dict[str, Any],
    error: str,
    has_content: bool,
) -> None:
    response = await answer(make_registry(), content=content, isError=True, **fields)
    assert response.error == error
    assert response.result == fields.get("structuredContent")
    assert response.content == ((content or [text(error)]) if has_content else None)


@pytest.mark.parametrize(
    ("returns", "value", "expected"),
    [
        (
            None,
            {"code": "LIMIT", "retry_after": 30},
            {"code": "LIMIT", "retry_after": 30},
        ),
        (None, {"none": None, "list": [None, 1]}, {"none": None, "list": [None, 1]}),
        ({"type": "object", "properties": {"code": {}}}, {"code": 1}, {"code": 1}),
        ({"type": "object", "required": ["pages"]}, {"code": 1}, None),
        (
            {"type": "object", "properties": {"code": {"type": "string"}}},
            {"code": 1},
            None,
        ),
    ],
)
async def test_proxied_call_error_has_structured_content_only_if_schema_matches(
    make_registry: Make, returns: Any, value: Any, expected: Any
) -> None:
    """The official TypeScript client validates it in errors, too."""
    spec = definition("answer", proxy="odd")
    if returns is not None:
        spec["mcp"]["outputSchema"] = returns
    response = await answer(
        make_registry(spec), content=[text("no")], structuredContent=value, isError=True
    )
    assert response.error == "no" and response.result == expected
    assert response.content == [text("no")]
    result = build_call_result(response, structured=True)
    assert result.is_error and result.structured_content == expected


@pytest.mark.parametrize("content", [[text("a"), text("b")], [PIXEL], [LINK], []])
@pytest.mark.parametrize(
    "value", [{}, {"code": None}, [], [1, None], "LIMIT", 0, 1.5, False]
)
async def test_proxied_error_structured_content_has_any_type_in_newest_mcp(
    make_registry: Make, value: Any, content: list[Any]
) -> None:
    response = await answer(
        make_registry(mode="newest"),
        resultType="complete",
        content=content,
        isError=True,
        structuredContent=value,
    )
    assert response.error and response.result == value
    assert type(response.result) is type(value)
    assert response.content == (content or [text(response.error)])
    result = build_call_result(response, structured=True)
    assert result.is_error and result.structured_content == value


async def test_proxied_call_escapes_control_characters_in_errors_but_not_in_results(
    make_registry: Make,
) -> None:
    registry = make_registry()
    content = [text("no\x1b[2J\r\n\tat \x9b8m\u00e9"), PIXEL]
    failed = await answer(registry, content=content, isError=True)
    assert failed.error == "no\\x1b[2J\n\tat \\x9b8m\u00e9"
    assert failed.content == [text(failed.error), PIXEL]
    structured = {"code": "\x9b8m"}
    failed = await answer(
        registry, content=[], structuredContent=structured, isError=True
    )
    assert failed.error == r'{"code": "\x9b8m"}'
    refusal = {"error": {"code": -32602, "message": "no\x1b]0;title\x07"}}
    refused = await registry.call_tool("answer", refusal)
    assert (
        refused.error == r"the tool's server rejected the request: no\x1b]0;title\x07"
    )
    data = [text("\x1b[31mred")]
    assert (await answer(registry, content=data)).result == "\x1b[31mred"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ({"error": {"code": -32602, "message": "no such thing"}}, "no such thing"),
        ({"result": {"content": "none"}}, "the tool's result is invalid"),
        ({"result": {"content": [{"type": "smell"}]}}, "the tool's result is invalid"),
    ],
)
async def test_server_json_rpc_error_or_invalid_result_fails_a_proxied_call(
    make_registry: Make, reply: dict[str, Any], error: str
) -> None:
    response = await make_registry().call_tool("answer", reply)
    assert response.error is not None and error in response.error


async def test_proxied_result_that_violates_the_spec_output_schema_is_an_error(
    make_registry: Make,
) -> None:
    spec = definition("answer", proxy="odd")
    returns = {"type": "object", "properties": {"pages": {"type": "integer"}}}
    spec["mcp"]["outputSchema"] = returns
    registry = make_registry(spec)
    assert (await answer(registry, content=[], structuredContent={"pages": 1})).success
    invalid = await answer(registry, content=[], structuredContent={"pages": "all"})
    assert invalid.error == "the tool's result does not match its declared schema"
    failed = await answer(registry, content=[text("no"), PIXEL], isError=True)
    assert failed.error == "no" and failed.content is not None


@pytest.mark.parametrize(
    ("method", "params"),
    [
        (
            "elicitation/create",
            {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
        ),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
        ("roots/list", {}),
    ],
)
async def test_unsupported_server_request_gets_an_error_and_proxied_calls_continue(
    make_registry: Make, method: str, params: dict[str, Any]
) -> None:
    registry = make_registry()
    response = await registry.call_tool("ask", {"method": method, "params": params})
    assert "code" in json.loads(response.result)
    assert (await registry.call_tool("echo", {"text": "on"})).result == "on"


async def test_each_proxied_tool_is_called_on_its_own_server(
    make_registry: Make,
) -> None:
    registry = make_registry(
        definition("echo", proxy="odd"), definition("my_secret", proxy="two")
    )
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "PATH" in (await registry.call_tool("my_secret", {})).result


async def test_concurrent_proxied_calls_share_one_server_process_without_blocking(
    make_registry: Make, tmp_path: Path
) -> None:
    mark = str(tmp_path / "heard")
    registry = make_registry(args=mark, call_timeout=60.0)
    hanging = asyncio.ensure_future(registry.call_tool("hang", {}))
    for number in range(20):
        arguments = {"text": str(number)}
        assert (await registry.call_tool("echo", arguments)).result == str(number)
    assert not hanging.done()
    assert len(find_processes(mark)) == 1
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    # The server writes the file when it is notified of the cancellation.
    await wait_until_async(lambda: os.path.exists(mark))
    await registry.close()
    await wait_until_async(lambda: not find_processes(mark))


async def test_timeout_in_a_proxied_tool_spec_replaces_the_server_timeout(
    make_registry: Make,
) -> None:
    registry = make_registry(
        definition("hang", proxy="odd", timeout=0.3), call_timeout=0.01
    )
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        response = await registry.call_tool("hang", {})
    assert response.error is not None and "0.3 s" in response.error


async def test_proxied_server_that_dies_during_a_call_is_restarted_for_later_calls(
    make_registry: Make,
) -> None:
    registry = make_registry()
    died = await registry.call_tool("die", {})
    assert died.error == "the connection to the tool's server was lost"
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while not (await registry.call_tool("echo", {"text": "back"})).success:
            await asyncio.sleep(0.05)


async def test_environment_secrets_are_hidden_in_proxied_results_errors_and_tools(
    make_registry: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_TOKEN", "t0ken-of-the-server")
    registry = make_registry(env={"ODD_TOKEN": "${ODD_TOKEN}"})
    result = await registry.call_tool("secret", {})
    assert '"ODD_TOKEN": "[hidden]"' in result.result
    content = [text("t0ken-of-the-server is wrong"), text("a"), PIXEL]
    failed = await answer(registry, content=content, isError=True)
    assert "t0ken" not in repr(failed)
    assert "t0ken" not in repr(await registry.list_tools())


async def test_proxied_call_langchain_tool_returns_content_blocks_and_errors(
    make_registry: Make,
) -> None:
    tools = LangChainTools(make_registry())
    tool = tools.get("answer")
    result = await tool.ainvoke({"result": {"content": [text("a"), PIXEL]}})
    assert [block["type"] for block in result] == ["text", "image"]
    error_result = {"content": [text("jammed"), PIXEL], "isError": True}
    call = {
        "type": "tool_call",
        "id": "1",
        "name": "answer",
        "args": {"result": error_result},
    }
    message = await tool.ainvoke(call)
    assert message.status == "error"
    assert message.content == "jammed\n(image/png, which cannot be shown here)"

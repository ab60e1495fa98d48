"""Responses of proxied calls: results, errors, content blocks and faults of the server.

The server is `servers/odd.py`; its tools have specs, so that its own list is not read.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.external.conftest import WAIT_TIMEOUT_S, Open, odd_server
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse
from toolcast_runtime.core.server_settings import resolve_server
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import open_session
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


@pytest.fixture
def registry(make_registry: Make) -> Registry:
    """Return a registry of all tools of `odd`, without `outputSchema`."""
    return make_registry()


async def answer(registry: Registry, **result: Any) -> ToolResponse:
    """Call the tool `answer`, which returns this result."""
    return await registry.call_tool("answer", {"result": result})


async def test_proxied_call_result_is_the_structured_content_or_else_the_joined_text(
    registry: Registry,
) -> None:
    assert (await answer(registry, content=[])).result == ""
    content = [text("a"), PIXEL]
    response = await answer(registry, content=content, structuredContent={"pages": 3})
    assert (response.result, response.content) == ({"pages": 3}, content)
    assert (await answer(registry, content=[text("a"), text("b")])).result == "a\nb"


async def test_unknown_content_block_fields_are_dropped(registry: Registry) -> None:
    known_fields = {"annotations": {"priority": 1.0}, "_meta": {"a.example/b": [1]}}
    block = {**text("a"), **known_fields, "shade": "red"}
    response = await answer(registry, content=[block], hue="blue")
    assert response.content == [{**text("a"), **known_fields}]


async def test_proxied_call_in_mcp_2026_07_28_returns_arrays_and_refuses_input_requests(
    make_registry: Make,
) -> None:
    registry = make_registry(mode="newest")
    complete = {"resultType": "complete", "content": [text("[1]")]}
    assert (await answer(registry, **complete, structuredContent=[1])).result == [1]
    response = await answer(
        registry, resultType="input_required", requestState="s", inputRequests={}
    )
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
    assert str(refused.value) == "the tool requested input more than 10 times"
    assert messages == ["Where?"] * 10


async def test_failed_proxied_call_returns_the_servers_text_as_error_and_other_content(
    registry: Registry,
) -> None:
    """Without text, the error is the structured content or `the tool failed`."""
    structured = {"structuredContent": {"code": 5}}
    for content, fields, error, has_content in (
        ([text("jammed")], {}, "jammed", False),
        ([text("jammed"), PIXEL], {}, "jammed", True),
        ([PIXEL], {}, "the tool failed", True),
        ([], {}, "the tool failed", False),
        ([], structured, '{"code": 5}', True),
        ([text("jammed")], structured, "jammed", True),
    ):
        response = await answer(registry, content=content, isError=True, **fields)
        assert response.error == error
        assert response.result == fields.get("structuredContent")
        assert response.content == ((content or [text(error)]) if has_content else None)


@pytest.mark.parametrize(
    ("returns", "value", "is_kept"),
    [
        (None, {"none": None, "list": [None, 1]}, True),
        ({"type": "object", "properties": {"code": {}}}, {"code": 1}, True),
        ({"type": "object", "required": ["pages"]}, {"code": 1}, False),
        ({"properties": {"code": {"type": "string"}}}, {"code": 1}, False),
    ],
)
async def test_proxied_call_error_has_structured_content_only_if_schema_matches(
    make_registry: Make, returns: Any, value: Any, is_kept: bool
) -> None:
    """The official TypeScript client validates it in errors, too."""
    spec = definition("answer", proxy="odd")
    if returns is not None:
        spec["mcp"]["outputSchema"] = returns
    response = await answer(
        make_registry(spec), content=[text("no")], structuredContent=value, isError=True
    )
    expected = value if is_kept else None
    assert response.error == "no" and response.result == expected
    assert response.content == [text("no")]
    result = build_call_result(response, structured=True)
    assert result.is_error and result.structured_content == expected


async def test_proxied_error_structured_content_has_any_type_in_newest_mcp(
    make_registry: Make,
) -> None:
    registry = make_registry(mode="newest")
    values = ({}, {"code": None}, [], [1, None], "LIMIT", 0, 1.5, False)
    contents = ([text("a"), text("b")], [PIXEL], [LINK], [])
    for value, content in itertools.product(values, contents):
        fields = {"content": content, "structuredContent": value, "isError": True}
        response = await answer(registry, resultType="complete", **fields)
        assert response.error and response.result == value
        assert type(response.result) is type(value)
        assert response.content == (content or [text(response.error)])
        result = build_call_result(response, structured=True)
        assert result.is_error and result.structured_content == value


async def test_proxied_call_escapes_control_characters_in_errors_but_not_in_results(
    registry: Registry,
) -> None:
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


async def test_invalid_server_result_fails_a_proxied_call(registry: Registry) -> None:
    for content in ("none", [{"type": "smell"}]):
        response = await answer(registry, content=content)
        assert str(response.error).startswith("the tool's result is invalid")


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


async def test_unsupported_server_request_gets_an_error_and_proxied_calls_continue(
    registry: Registry,
) -> None:
    form = {"type": "object", "properties": {}}
    for method, params in (
        ("elicitation/create", {"message": "?", "requestedSchema": form}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
        ("roots/list", {}),
    ):
        response = await registry.call_tool("ask", {"method": method, "params": params})
        assert "code" in json.loads(response.result)
    assert (await registry.call_tool("echo", {"text": "on"})).result == "on"


async def test_proxied_tool_is_called_on_the_server_in_its_definition(
    make_registry: Make,
) -> None:
    registry = make_registry(
        definition("echo", proxy="odd"), definition("my_secret", proxy="two")
    )
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "PATH" in (await registry.call_tool("my_secret", {})).result


async def test_proxied_tool_spec_timeout_replaces_the_server_timeout(
    make_registry: Make,
) -> None:
    registry = make_registry(
        definition("hang", proxy="odd", timeout=0.3), call_timeout=0.01
    )
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        response = await registry.call_tool("hang", {})
    assert response.error is not None and "0.3 s" in response.error


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

"""MCP results of tool responses, sealed request state and request tracing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.core.context import CALLER, Caller, ToolResponse
from toolcast_runtime.mcp import sdk_server
from toolcast_runtime.mcp.results import (
    NULL_RESULT,
    answer_with_state,
    build_call_result,
    escape_surrogates,
    is_handshake_version,
    reject_cursor,
)

TEXT = {"type": "text", "text": "a"}
IMAGE = {"type": "image", "data": "", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("response", "structured", "texts", "value", "is_error"),
    [
        (ToolResponse({"n": 1}), True, ['{"n": 1}'], {"n": 1}, False),
        (ToolResponse({"n": "é"}), False, ['{"n": "é"}'], None, False),
        (ToolResponse({"n": 1}, content=[TEXT]), True, ["a"], {"n": 1}, False),
        (ToolResponse({"n": 1}, content=[TEXT]), False, ["a"], None, False),
        (ToolResponse(error="it is late"), True, ["it is late"], None, True),
        (ToolResponse(error="late", content=[TEXT]), True, ["a"], None, True),
        (ToolResponse(error="\ud800"), True, ["\\ud800"], None, True),
    ],
)
def test_tool_response_becomes_mcp_text_blocks_and_structured_content(
    response: Any, structured: bool, texts: Any, value: Any, is_error: bool
) -> None:
    result: Any = build_call_result(response, structured=structured)
    assert not NULL_RESULT.get(), "only a null result has null as structured content"
    assert [block.text for block in result.content] == texts
    assert result.structured_content == value
    assert bool(result.is_error) is is_error


@pytest.mark.parametrize(
    ("response", "texts", "value"),
    [
        (ToolResponse({"n": 1}), [], {"n": 1}),
        (ToolResponse(0, content=[TEXT]), [], 0),
        (ToolResponse({"n": 1}, note="Left out."), ["Left out."], {"n": 1}),
        # The server adds `"structuredContent": null`, which the SDK's model omits.
        (ToolResponse(None), [], None),
        (ToolResponse(None, content=[TEXT]), [], None),
    ],
)
def test_mcp_tool_result_with_send_structured_does_not_repeat_the_value_as_text(
    response: ToolResponse, texts: list[str], value: Any
) -> None:
    """With `send="structured"` only content blocks and notes are sent as text."""
    token = NULL_RESULT.set(False)
    result: Any = build_call_result(response, structured=True, send="structured")
    assert NULL_RESULT.get() is (value is None)
    NULL_RESULT.reset(token)
    assert [block.text for block in result.content] == texts
    assert result.structured_content == value


@pytest.mark.parametrize(
    ("send", "result", "content", "texts"),
    [
        ("text", {"n": 1}, [IMAGE], ['{"n": 1}', None]),
        ("text", {"n": 1}, [TEXT, IMAGE], ["a", None]),
        ("text", None, [IMAGE], [None]),
        ("text", [IMAGE], [IMAGE], [None]),
        ("both", {"n": 1}, [IMAGE], [None]),
    ],
)
def test_mcp_tool_result_with_send_text_adds_the_value_as_text_to_media_only(
    send: str, result: Any, content: list[Any], texts: list[str | None]
) -> None:
    response = ToolResponse(result, content=content)
    built: Any = build_call_result(response, structured=False, send=send)
    assert [getattr(block, "text", None) for block in built.content] == texts


def test_lone_surrogate_in_an_mcp_result_text_is_escaped_as_backslash_u() -> None:
    assert escape_surrogates("a\udc00é") == "a\\udc00é"


def test_mcp_protocol_versions_before_2026_07_28_are_handshake_versions() -> None:
    assert is_handshake_version("2025-06-18") and is_handshake_version("2025-11-25")
    assert not is_handshake_version("2026-07-28")


@pytest.mark.parametrize(
    ("version", "client_confirms", "can_repeat"),
    [
        ("2025-11-25", False, False),
        ("2025-11-25", True, True),
        ("2026-07-28", False, True),
    ],
)
def test_mcp_call_is_repeated_with_the_answer_in_the_stateless_version(
    version: str, client_confirms: bool, can_repeat: bool
) -> None:
    """A client that confirms calls itself answers without a question."""
    context: Any = SimpleNamespace(protocol_version=version)
    prompt = sdk_server._UserPrompt(
        context, cast(Any, None), None, cast(Any, None), client_confirms=client_confirms
    )
    assert prompt.can_repeat_call is can_repeat


@pytest.mark.parametrize(
    ("state", "result_type", "expected"),
    [
        (None, None, "answered None"),
        (None, "complete", "answered None"),
        (None, "input_required", "sealed"),
        ("s", "input_required", "opened"),
    ],
)
async def test_mcp_request_state_is_sealed_if_input_is_required_and_opened_on_return(
    state: str | None, result_type: str | None, expected: str
) -> None:
    """Only results that require input are sealed; a received state is opened first."""
    result = SimpleNamespace(result_type=result_type, text="answered None")

    async def answer(opened_state: str | None) -> Any:
        assert opened_state is None
        return result

    async def seal_result(*_: Any) -> Any:
        return SimpleNamespace(text="sealed")

    async def open_state(*_: Any) -> Any:
        return SimpleNamespace(text="opened")

    seal: Any = SimpleNamespace(
        seal_result=seal_result, answer_with_opened_state=open_state
    )
    context: Any = None
    final = await answer_with_state(lambda: seal, context, state, answer)
    assert final.text == expected


def test_mcp_list_request_with_any_cursor_is_rejected_as_lists_have_one_page() -> None:
    reject_cursor(None)
    reject_cursor(SimpleNamespace(cursor=None))  # type: ignore[arg-type]
    with pytest.raises(MCPError, match="the list has one page"):
        reject_cursor(SimpleNamespace(cursor=""))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meta", "is_metrics_loaded", "is_traced", "method", "expected"),
    [
        (None, False, False, "tools/call", "plain"),
        ({}, False, False, "tools/call", "plain"),
        ({"other": 1}, False, False, "tools/list", "listed"),
        ({"traceparent": "x"}, False, False, "tools/call", "observed"),
        (None, True, False, "tools/call", "observed"),
        (None, False, True, "tools/call", "observed"),
    ],
)
async def test_mcp_request_is_traced_if_it_has_a_traceparent_or_opentelemetry_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
    meta: Any,
    is_metrics_loaded: bool,
    is_traced: bool,
    method: str,
    expected: str,
) -> None:
    """Every request sets the caller with its id, session and declared headers."""
    modules = {"opentelemetry.metrics": 1} if is_metrics_loaded else {}
    monkeypatch.setattr(sdk_server, "sys", SimpleNamespace(modules=modules))
    monkeypatch.setattr(sdk_server, "is_tracing_enabled", lambda: is_traced)
    http = SimpleNamespace(headers=("X-User", "X-None"))
    served: Any = SimpleNamespace(http=http)
    middleware = sdk_server._RequestMiddleware(served, None, takes_raw_json=False)
    callers: list[Caller] = []

    async def observe(ctx: Any, call_next: Any) -> str:
        return "observed"

    async def list_tools(call_next: Any, ctx: Any) -> str:
        return "listed"

    async def call_next(ctx: Any) -> str:
        callers.append(CALLER.get())
        return "plain"

    vars(middleware).update(_observed=observe, _list_tools=list_tools, server=None)
    headers = {"x-user": "me", "x-other": "x", "mcp-session-id": "s"}
    request = SimpleNamespace(scope={}, headers=headers)
    ctx: Any = SimpleNamespace(method=method, meta=meta, request_id=7, request=request)
    assert await middleware(ctx, call_next) == expected
    assert CALLER.get() == Caller()
    for caller in callers:
        assert (caller.request_id, caller.session) == (7, "s")
        assert caller.headers == {"x-user": "me"}


async def test_mcp_server_telemetry_session_ends_with_the_server_lifespan() -> None:
    served: Any = SimpleNamespace(http=None)
    middleware = sdk_server._RequestMiddleware(served, None, takes_raw_json=False)
    async with middleware.lifespan(None):
        pass
    ended: list[int] = []
    observed = SimpleNamespace(end_session=lambda: ended.append(1))
    vars(middleware)["_observed"] = observed
    async with middleware.lifespan(None):
        assert not ended
    assert ended == [1]

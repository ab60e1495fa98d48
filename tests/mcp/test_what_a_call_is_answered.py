"""What MCP is answered for what a tool gives, sealed where a person is needed first."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.core.context import CALLER, Caller, ToolResponse
from toolcast_runtime.mcp import sdk_server
from toolcast_runtime.mcp.results import (
    answer_with_state,
    build_call_result,
    escape_surrogates,
    is_handshake_version,
    reject_cursor,
)

TEXT = {"type": "text", "text": "a"}


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
def test_a_call_is_answered(
    response: ToolResponse,
    structured: bool,
    texts: list[str],
    value: Any,
    is_error: bool,
) -> None:
    found: Any = build_call_result(response, structured=structured)
    assert [block.text for block in found.content] == texts
    assert found.structured_content == value
    assert bool(found.is_error) is is_error


@pytest.mark.parametrize(
    ("response", "texts", "value"),
    [
        (ToolResponse({"n": 1}), [], {"n": 1}),
        (ToolResponse(0, content=[TEXT]), [], 0),
        (ToolResponse({"n": 1}, note="Left out."), ["Left out."], {"n": 1}),
        # Where there is no value nothing else says it.
        (ToolResponse(None), ["null"], None),
        (ToolResponse(None, content=[TEXT]), ["a"], None),
    ],
)
def test_a_value_alone_is_a_value(
    response: ToolResponse, texts: list[str], value: Any
) -> None:
    found: Any = build_call_result(response, structured=True, send="structured")
    assert [block.text for block in found.content] == texts
    assert found.structured_content == value


def test_half_of_a_surrogate_pair_is_spelled_out() -> None:
    assert escape_surrogates("a\udc00é") == "a\\udc00é"


@pytest.mark.parametrize(
    ("revision", "expected"),
    [("2025-06-18", True), ("2025-11-25", True), ("2026-07-28", False)],
)
def test_older_revisions_begin_with_a_handshake(revision: str, expected: bool) -> None:
    assert is_handshake_version(revision) is expected


@pytest.mark.parametrize(
    ("state", "kind", "expected"),
    [
        (None, None, "answered None"),
        (None, "complete", "answered None"),
        (None, "input_required", "sealed"),
        ("s", "input_required", "opened"),
    ],
)
async def test_what_a_person_is_asked_is_sealed(
    state: str | None, kind: str | None, expected: str
) -> None:
    result = SimpleNamespace(result_type=kind, text="answered None")

    async def answer(opened: str | None) -> Any:
        assert opened is None
        return result

    async def sealed(*_: Any) -> Any:
        return SimpleNamespace(text="sealed")

    async def opened(*_: Any) -> Any:
        return SimpleNamespace(text="opened")

    seal: Any = SimpleNamespace(seal_result=sealed, answer_with_opened_state=opened)
    context: Any = None
    found = await answer_with_state(lambda: seal, context, state, answer)
    assert found.text == expected


def test_a_list_has_one_page() -> None:
    reject_cursor(None)
    reject_cursor(SimpleNamespace(cursor=None))  # type: ignore[arg-type]
    with pytest.raises(MCPError, match="the list has one page"):
        reject_cursor(SimpleNamespace(cursor=""))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meta", "loaded", "is_traced", "method", "expected"),
    [
        (None, False, False, "tools/call", "plain"),
        ({}, False, False, "tools/call", "plain"),
        ({"other": 1}, False, False, "tools/list", "listed"),
        ({"traceparent": "x"}, False, False, "tools/call", "observed"),
        (None, True, False, "tools/call", "observed"),
        (None, False, True, "tools/call", "observed"),
    ],
)
async def test_a_request_is_observed_where_somebody_looks(
    monkeypatch: pytest.MonkeyPatch,
    meta: Any,
    loaded: bool,
    is_traced: bool,
    method: str,
    expected: str,
) -> None:
    modules = {"opentelemetry.metrics": 1} if loaded else {}
    monkeypatch.setattr(sdk_server, "sys", SimpleNamespace(modules=modules))
    monkeypatch.setattr(sdk_server, "is_tracing_enabled", lambda: is_traced)
    http = SimpleNamespace(headers=("X-Who", "X-None"))
    served: Any = SimpleNamespace(http=http)
    requests = sdk_server._RequestMiddleware(served, None, takes_raw_json=False)
    asked: list[Caller] = []

    async def observed(ctx: Any, call_next: Any) -> str:
        return "observed"

    async def listed(call_next: Any, ctx: Any) -> str:
        return "listed"

    async def plain(ctx: Any) -> str:
        asked.append(CALLER.get())
        return "plain"

    vars(requests).update(_observed=observed, _list_tools=listed, server=None)
    ctx: Any = SimpleNamespace(
        method=method,
        meta=meta,
        request_id=7,
        request=SimpleNamespace(
            scope={}, headers={"x-who": "me", "x-other": "x", "mcp-session-id": "s"}
        ),
    )
    assert await requests(ctx, plain) == expected
    assert CALLER.get() == Caller()
    for caller in asked:
        assert (caller.request_id, caller.session) == (7, "s")
        assert caller.headers == {"x-who": "me"}


async def test_a_session_is_ended_that_was_observed() -> None:
    served: Any = SimpleNamespace(http=None)
    requests = sdk_server._RequestMiddleware(served, None, takes_raw_json=False)
    async with requests.lifespan(None):
        pass
    ended: list[int] = []
    observed = SimpleNamespace(end_session=lambda: ended.append(1))
    vars(requests)["_observed"] = observed
    async with requests.lifespan(None):
        assert not ended
    assert ended == [1]

"""What comes back of a call that is passed on: each kind of answer, and of fault.

The server is `servers/odd.py`; its tools are specs here, and it is not asked for its list.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from tests.external.conftest import Open, odd, processes, until
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse
from toolcast_runtime.core.server_settings import resolve_server
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import open_session
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp.results import build_call_result

PIXEL = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


Proxied = Callable[..., Registry]


@pytest.fixture
def proxied(opened: Open, tmp_path: Path) -> Proxied:
    """Gives a registry of tools that servers answer; by default one, `odd`."""

    def make(
        *specs: dict[str, Any], mode: str = "well", words: str = "", **options: Any
    ) -> Registry:
        names = ("echo", "answer", "ask", "die", "hang", "secret")
        found = specs or [definition(name, proxy="odd") for name in names]
        package = Package(tmp_path, *found).load()
        servers = [odd(mode, *words.split(), is_proxied=True, **options)]
        servers.append(odd("well", name="two", prefix="my_", is_proxied=True))
        return Registry(package, providers=[opened(*servers)])

    return make


async def answered(registry: Registry, **result: Any) -> ToolResponse:
    return await registry.call_tool("answer", {"result": result})


async def test_each_kind_of_answer_is_the_servers(proxied: Proxied) -> None:
    registry = proxied()
    assert (await answered(registry, content=[])).result == ""
    both = [text("a"), PIXEL]
    response = await answered(registry, content=both, structuredContent={"pages": 3})
    assert (response.result, response.content) == ({"pages": 3}, both)
    assert (await answered(registry, content=[text("a"), text("b")])).result == "a\nb"


async def test_what_mcp_does_not_know_of_a_block_is_not_passed_on(
    proxied: Proxied,
) -> None:
    known = {"annotations": {"priority": 1.0}, "_meta": {"a.example/b": [1]}}
    sent = {**text("a"), **known, "shade": "red"}
    response = await answered(proxied(), content=[sent], hue="blue")
    assert response.content == [{**text("a"), **known}]


async def test_the_newest_revision_has_more_answers(proxied: Proxied) -> None:
    registry = proxied(mode="newest")
    done = {"resultType": "complete", "content": [text("[1]")]}
    assert (await answered(registry, **done, structuredContent=[1])).result == [1]
    asked = {"resultType": "input_required", "requestState": "s", "inputRequests": {}}
    response = await answered(registry, **asked)
    assert response.error == (
        "the tool requests input during the call, and no user can be asked"
    )


async def test_who_can_be_asked_is_asked_in_each_round() -> None:
    """The server gives the same answer each time, which asks for the same again."""
    seen: list[str] = []

    async def ask(
        context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        seen.append(params.message)
        return types.ElicitResult(action="accept", content={"city": "Rome"})

    form = {"type": "object", "properties": {"city": {"type": "string"}}}
    params = {"mode": "form", "message": "Where?", "requestedSchema": form}
    wanted = {"where": {"method": "elicitation/create", "params": params}}
    asked = {"resultType": "input_required", "inputRequests": wanted}
    server = odd("newest")
    async with open_session(server, resolve_server(server, os.environ), ask) as session:
        with pytest.raises(RequestRefusedError) as refused:
            await session.call("answer", {"result": asked})
    rounds = re.fullmatch(
        r"the tool requested input more than (\d+) times", str(refused.value)
    )
    assert rounds is not None
    assert seen == ["Where?"] * int(rounds[1])


@pytest.mark.parametrize(
    ("content", "more", "error", "passed"),
    [
        ([text("jammed")], {}, "jammed", False),
        ([text("jammed"), PIXEL], {}, "jammed", True),
        ([PIXEL], {}, "the tool failed", True),
        ([], {}, "the tool failed", False),
        ([], {"structuredContent": {"code": 5}}, '{"code": 5}', True),
        ([text("jammed")], {"structuredContent": {"code": 5}}, "jammed", True),
    ],
)
async def test_what_tells_of_an_error_comes_with_it(
    proxied: Proxied,
    content: list[Any],
    more: dict[str, Any],
    error: str,
    passed: bool,
) -> None:
    response = await answered(proxied(), content=content, isError=True, **more)
    assert response.error == error
    assert response.result == more.get("structuredContent")
    assert response.content == ((content or [text(error)]) if passed else None)


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
async def test_structured_content_of_an_error_is_kept_if_it_matches_the_schema(
    proxied: Proxied, returns: Any, value: Any, expected: Any
) -> None:
    """The official TypeScript client validates it in errors, too."""
    spec = definition("answer", proxy="odd")
    if returns is not None:
        spec["mcp"]["outputSchema"] = returns
    response = await answered(
        proxied(spec), content=[text("no")], structuredContent=value, isError=True
    )
    assert response.error == "no" and response.result == expected
    assert response.content == [text("no")]
    result = build_call_result(response, structured=True)
    assert result.is_error and result.structured_content == expected


@pytest.mark.parametrize("content", [[text("a"), text("b")], [PIXEL], [LINK], []])
@pytest.mark.parametrize(
    "value", [{}, {"code": None}, [], [1, None], "LIMIT", 0, 1.5, False]
)
async def test_structured_content_of_an_error_has_any_type_in_the_newest_revision(
    proxied: Proxied, value: Any, content: list[Any]
) -> None:
    response = await answered(
        proxied(mode="newest"),
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


async def test_no_word_of_an_error_drives_a_terminal(proxied: Proxied) -> None:
    registry = proxied()
    content = [text("no\x1b[2J\r\n\tat \x9b8m\u00e9"), PIXEL]
    failed = await answered(registry, content=content, isError=True)
    assert failed.error == "no\\x1b[2J\n\tat \\x9b8m\u00e9"
    assert failed.content == [text(failed.error), PIXEL]
    coded = {"code": "\x9b8m"}
    failed = await answered(registry, content=[], structuredContent=coded, isError=True)
    assert failed.error == r'{"code": "\x9b8m"}'
    refusal = {"error": {"code": -32602, "message": "no\x1b]0;title\x07"}}
    refused = await registry.call_tool("answer", refusal)
    assert (
        refused.error == r"the tool's server rejected the request: no\x1b]0;title\x07"
    )
    data = [text("\x1b[31mred")]
    assert (await answered(registry, content=data)).result == "\x1b[31mred"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"error": {"code": -32602, "message": "no such thing"}}, "no such thing"),
        ({"result": {"content": "none"}}, "the tool's result is invalid"),
        (
            {"result": {"content": [{"type": "smell"}]}},
            "the tool's result is invalid",
        ),
    ],
)
async def test_a_refusal_or_what_is_no_answer_is_an_error(
    proxied: Proxied, answer: dict[str, Any], error: str
) -> None:
    response = await proxied().call_tool("answer", answer)
    assert response.error is not None and error in response.error


async def test_a_result_that_the_spec_refuses_is_not_given(proxied: Proxied) -> None:
    spec = definition("answer", proxy="odd")
    returns = {"type": "object", "properties": {"pages": {"type": "integer"}}}
    spec["mcp"]["outputSchema"] = returns
    registry = proxied(spec)
    assert (
        await answered(registry, content=[], structuredContent={"pages": 1})
    ).success
    lied = await answered(registry, content=[], structuredContent={"pages": "all"})
    assert lied.error == "the tool's result does not match its declared schema"
    failed = await answered(registry, content=[text("no"), PIXEL], isError=True)
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
async def test_a_server_that_asks_the_caller_is_told_that_it_cannot(
    proxied: Proxied, method: str, params: dict[str, Any]
) -> None:
    registry = proxied()
    response = await registry.call_tool("ask", {"method": method, "params": params})
    assert "code" in json.loads(response.result)
    assert (await registry.call_tool("echo", {"text": "on"})).result == "on"


async def test_two_servers_of_one_toolset_answer_each_its_own(proxied: Proxied) -> None:
    registry = proxied(
        definition("echo", proxy="odd"), definition("my_secret", proxy="two")
    )
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "PATH" in (await registry.call_tool("my_secret", {})).result


async def test_calls_share_a_connection_and_do_not_wait_for_each_other(
    proxied: Proxied, tmp_path: Path
) -> None:
    mark = str(tmp_path / "heard")
    registry = proxied(words=mark)
    hanging = asyncio.ensure_future(registry.call_tool("hang", {}))
    for number in range(20):
        given = {"text": str(number)}
        assert (await registry.call_tool("echo", given)).result == str(number)
    assert not hanging.done()
    assert len(processes(mark)) == 1
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await until(lambda: os.path.exists(mark))  # the server heard of it
    await registry.close()
    await until(lambda: not processes(mark))


async def test_the_time_out_is_the_tools_own(proxied: Proxied) -> None:
    registry = proxied(definition("hang", proxy="odd", timeout=0.3), call_timeout=0.01)
    begin = time.monotonic()
    response = await registry.call_tool("hang", {})
    assert response.error is not None and "0.3 s" in response.error
    assert time.monotonic() - begin < 20


async def test_a_server_that_dies_in_mid_call_answers_again_when_it_is_back(
    proxied: Proxied,
) -> None:
    registry = proxied()
    died = await registry.call_tool("die", {})
    assert died.error == "the connection to the tool's server was lost"
    end = time.monotonic() + 30
    while not (await registry.call_tool("echo", {"text": "back"})).success:
        assert time.monotonic() < end
        await asyncio.sleep(0.05)


async def test_what_the_environment_gave_is_shown_to_nobody(
    proxied: Proxied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_TOKEN", "t0ken-of-the-server")
    registry = proxied(env={"ODD_TOKEN": "${ODD_TOKEN}"})
    shown = await registry.call_tool("secret", {})
    assert '"ODD_TOKEN": "[hidden]"' in shown.result
    said = [text("t0ken-of-the-server is wrong"), text("a"), PIXEL]
    failed = await answered(registry, content=said, isError=True)
    assert "t0ken" not in repr(failed)
    assert "t0ken" not in repr(await registry.list_tools())


async def test_langchain_has_the_answer_and_the_error(proxied: Proxied) -> None:
    tools = LangChainTools(proxied())
    answer = tools.get("answer")
    shown = await answer.ainvoke({"result": {"content": [text("a"), PIXEL]}})
    assert [block["type"] for block in shown] == ["text", "image"]
    jammed = {"content": [text("jammed"), PIXEL], "isError": True}
    call = {
        "type": "tool_call",
        "id": "1",
        "name": "answer",
        "args": {"result": jammed},
    }
    told = await answer.ainvoke(call)
    assert told.status == "error"
    assert told.content == "jammed\n(image/png, which cannot be shown here)"

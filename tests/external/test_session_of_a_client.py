"""What a session asks of the SDK's client, and what it makes of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import (
    Session,
    normalize_definition,
)

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


class Client:
    """Answers as it is told to."""

    instructions = "Do this."

    def __init__(self, version: str = "2026-07-28", **declared: Any) -> None:
        self.protocol_version = version
        parts = dict.fromkeys(("tools", "resources", "prompts")) | declared
        self.server_capabilities = SimpleNamespace(**parts)
        self.session = self
        self.pages: list[Any] = []
        self.asked: list[Any] = []
        self.answers: list[Any] = []
        self.listened: list[Any] = []

    async def list_tools(self, params: Any) -> Any:
        self.asked.append(None if params is None else params.cursor)
        page = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        if isinstance(page, Exception):
            raise page
        return page

    async def list_prompts(self, params: Any) -> Any:
        return types.ListPromptsResult.model_validate({"prompts": [{"name": "p"}]})

    async def list_resources(self, params: Any) -> Any:
        raise MCPError(-32601, "no")

    async def list_resource_templates(self, params: Any) -> Any:
        raise MCPError(-32601, "no")

    async def send_request(self, request: Any, answer: Any, **_: Any) -> Any:
        self.asked.append(request.params)
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    async def dispatch_input_request(self, context: Any, request: Any) -> Any:
        return types.ElicitResult(action="accept", content={"key": context.request_id})

    def listen(self, **words: Any) -> Any:
        self.listened.append(words)

        @asynccontextmanager
        async def listening() -> AsyncIterator[Any]:
            async def events() -> AsyncIterator[None]:
                yield None

            yield events()

        return listening()


class Ended:
    """As the connection's end is told."""

    reason: str | None = None
    invalid_lines = 0
    stderr = b""

    def set_reason(self, reason: str) -> None:
        self.reason = reason


def opened(client: Client, can_ask: bool = False, **settings: Any) -> Session:
    ending: Any = Ended()
    asked: Any = client
    return Session(asked, ExternalServer("far", **settings), ending, can_ask)


def page(cursor: str | None = None, *tools: Any) -> Any:
    listed = {"tools": [*(tools or (TOOL,))], "nextCursor": cursor}
    return types.ListToolsResult.model_validate(listed)


async def test_a_list_is_read_page_by_page() -> None:
    client = Client()
    client.pages = [page("2"), page("3"), page()]
    assert await opened(client).list_tools() == [TOOL] * 3
    assert client.asked == [None, "2", "3"]
    client.pages = [page("again")]
    with pytest.raises(
        RequestRefusedError, match="the server's list of tools has more than"
    ):
        await opened(client).list_tools()
    client.pages = [MCPError(-1, "busy")]
    with pytest.raises(
        RequestRefusedError, match="the tool's server rejected the request: busy"
    ):
        await opened(client).list_tools()


async def test_a_list_has_its_time() -> None:
    client = Client()

    async def never(params: Any) -> Any:
        await asyncio.Event().wait()

    client.list_tools = never  # type: ignore[method-assign]
    with pytest.raises(
        TimeoutError, match=r"did not answer `tools/list` within 0.01 s$"
    ):
        await opened(client, list_timeout=0.01).list_tools()
    noisy = opened(client, list_timeout=0.01)
    noisy._process_exit.invalid_lines = 3
    with pytest.raises(
        TimeoutError, match=r"; stdout has lines that are not JSON-RPC \(3\)"
    ):
        await noisy.list_tools()


@pytest.mark.parametrize(
    ("declared", "prompts"), [({}, []), ({"prompts": object()}, [{"name": "p"}])]
)
async def test_what_is_declared_is_asked_for(
    declared: dict[str, Any], prompts: list[Any]
) -> None:
    """And what is refused has nothing."""
    found = await opened(Client(resources=object(), **declared)).list_other_lists()
    assert found == {"resources": [], "resourceTemplates": [], "prompts": prompts}


TELLS = SimpleNamespace(list_changed=True)
SILENT = SimpleNamespace(list_changed=False)


@pytest.mark.parametrize(
    ("client", "locked", "tells"),
    [
        (Client("2025-11-25", tools=TELLS), True, None),
        (Client(), True, None),
        (Client(tools=SILENT), True, None),
        (Client(prompts=TELLS), False, None),
        (Client(tools=TELLS, prompts=TELLS), False, (True, False, False)),
        (Client(tools=TELLS, prompts=TELLS), True, (True, False, True)),
        (Client(resources=TELLS), True, (False, True, False)),
    ],
)
async def test_changes_are_followed_that_somebody_heeds(
    client: Client, locked: bool, tells: tuple[bool, ...] | None
) -> None:
    session = opened(client, is_locked=locked)
    await session.subscribe()
    heard = [tuple(one.values()) for one in client.listened]
    assert heard == ([] if tells is None else [tells])
    assert session._changed.is_set() is (tells is not None)


@pytest.mark.parametrize(
    ("message", "locked", "is_heeded"),
    [
        (types.ToolListChangedNotification(), False, True),
        (types.PromptListChangedNotification(), False, False),
        (types.PromptListChangedNotification(), True, True),
        (object(), True, False),
    ],
)
async def test_a_change_is_noticed(message: Any, locked: bool, is_heeded: bool) -> None:
    session = opened(Client(), is_locked=locked)
    session.handle_notification(message)
    assert session._changed.is_set() is is_heeded
    await session.wait_for_change(0.001)
    assert not session._changed.is_set()


def result(text: str = "x") -> Any:
    content = [{"type": "text", "text": text}]
    return types.CallToolResult.model_validate({"content": content})


def needed() -> Any:
    asked = types.ElicitRequest(
        params=types.ElicitRequestFormParams(
            message="Sure?", requested_schema={"type": "object", "properties": {}}
        )
    )
    return types.InputRequiredResult(input_requests={"q": asked}, request_state="s")


async def test_a_call_gives_what_is_on_the_wire() -> None:
    client = Client()
    client.answers = [result()]
    found = await opened(client).call("a", {"x": 1})
    assert found["content"] == [{"type": "text", "text": "x"}]
    assert "structuredContent" not in found
    assert (client.asked[0].name, client.asked[0].arguments) == ("a", {"x": 1})


async def test_input_is_given_in_rounds_where_somebody_can() -> None:
    client = Client()
    client.answers = [needed(), result()]
    assert (await opened(client, True).call("a", {}))["content"]
    again = client.asked[1]
    assert again.request_state == "s"
    assert again.input_responses["q"].content == {"key": "q"}
    client.answers = [needed()]
    with pytest.raises(RequestRefusedError, match="and no user can be asked"):
        await opened(client).call("a", {})
    client.answers = [needed() for _ in range(99)]
    with pytest.raises(
        RequestRefusedError, match=r"requested input more than \d+ times"
    ):
        await opened(client, True).call("a", {})


async def test_after_a_mismatch_of_headers_the_list_is_read_and_the_call_made_again() -> (
    None
):
    client = Client()
    client.pages = [page()]
    client.answers = [MCPError(types.HEADER_MISMATCH, "other"), result()]
    assert (await opened(client).call("a", {}))["content"]
    client.answers = [MCPError(types.HEADER_MISMATCH, "x"), MCPError(-1, "still")]
    with pytest.raises(
        RequestRefusedError, match="the tool's server rejected the request: still"
    ):
        await opened(client).call("a", {})
    client.answers = [MCPError(-1, "no"), result()]
    with pytest.raises(
        RequestRefusedError, match="the tool's server rejected the request: no"
    ):
        await opened(client).call("a", {})


async def test_a_connection_that_is_lost_ends_the_session() -> None:
    client = Client()
    client.answers = [MCPError(types.CONNECTION_CLOSED, "Connection closed")] * 2
    session = opened(client)
    assert not session.is_lost
    with pytest.raises(
        RequestRefusedError, match="the connection to the tool's server was lost"
    ):
        await session.call("a", {})
    assert session.is_lost
    client.answers = [MCPError(-1, "no")]
    other = opened(client)
    with pytest.raises(RequestRefusedError):
        await other.call("a", {})
    assert not other.is_lost


def test_an_entry_is_as_a_session_gives_it() -> None:
    assert normalize_definition("tools", {**TOOL, "title": None}) == {
        **TOOL,
        "title": None,
    }
    assert normalize_definition("tools", {"name": 1}) == {"name": 1}
    assert (
        normalize_definition("prompts", {"name": "p", "input_schema": 1})["name"] == "p"
    )

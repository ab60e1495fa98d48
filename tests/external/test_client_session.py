"""Sessions: requests to the SDK's client, subscriptions, retries and converted results."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import Session, normalize_definition

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


def raise_or_return(response: Any) -> Any:
    if isinstance(response, Exception):
        raise response
    return response


class FakeClient:
    """A client of the SDK with prepared pages and responses, which records its requests."""

    instructions = "Do this."

    def __init__(self, version: str = "2026-07-28", **declared: Any) -> None:
        self.protocol_version = version
        parts = dict.fromkeys(("tools", "resources", "prompts")) | declared
        self.server_capabilities = SimpleNamespace(**parts)
        self.session = self
        self.pages: list[Any] = []
        self.requests: list[Any] = []
        self.responses: list[Any] = []
        self.subscriptions: list[Any] = []

    async def list_tools(self, params: Any) -> Any:
        self.requests.append(None if params is None else params.cursor)
        page = self.pages.pop(0) if len(self.pages) > 1 else self.pages[0]
        return raise_or_return(page)

    async def list_prompts(self, params: Any) -> Any:
        return types.ListPromptsResult.model_validate({"prompts": [{"name": "p"}]})

    async def list_resources(self, params: Any) -> Any:
        raise MCPError(-32601, "no")

    list_resource_templates = list_resources

    async def send_request(self, request: Any, answer: Any, **_: Any) -> Any:
        self.requests.append(request.params)
        return raise_or_return(self.responses.pop(0))

    async def dispatch_input_request(self, context: Any, request: Any) -> Any:
        return types.ElicitResult(action="accept", content={"key": context.request_id})

    def listen(self, **kinds: Any) -> Any:
        self.subscriptions.append(kinds)

        async def events() -> AsyncIterator[None]:
            yield None

        return nullcontext(events())


class FakeProcessExit:
    """A process that still runs."""

    reason: str | None = None
    invalid_lines = 0
    stderr = b""

    def set_reason(self, reason: str) -> None:
        self.reason = reason


def make_session(client: FakeClient, can_ask: bool = False, **settings: Any) -> Session:
    process_exit: Any = FakeProcessExit()
    sdk_client: Any = client
    return Session(sdk_client, ExternalServer("far", **settings), process_exit, can_ask)


async def get_refusal(client: FakeClient, can_ask: bool = False) -> str:
    """Return the error of a call that the server refuses."""
    with pytest.raises(RequestRefusedError) as raised:
        await make_session(client, can_ask).call("a", {})
    return str(raised.value)


def make_page(cursor: str | None = None, *tools: Any) -> Any:
    page = {"tools": [*(tools or (TOOL,))], "nextCursor": cursor}
    return types.ListToolsResult.model_validate(page)


async def test_external_server_tools_are_listed_page_by_page_up_to_a_limit() -> None:
    client = FakeClient()
    client.pages = [make_page("2"), make_page("3"), make_page()]
    assert await make_session(client).list_tools() == [TOOL] * 3
    assert client.requests == [None, "2", "3"]
    for page, problem in (
        (make_page("again"), "the server's list of tools has more than"),
        (MCPError(-1, "busy"), "the tool's server rejected the request: busy"),
    ):
        client.pages = [page]
        with pytest.raises(RequestRefusedError, match=problem):
            await make_session(client).list_tools()


async def test_tools_list_request_to_an_external_server_times_out() -> None:
    client = FakeClient()

    async def never(params: Any) -> Any:
        await asyncio.Event().wait()

    client.list_tools = never  # type: ignore[method-assign]
    session = make_session(client, list_timeout=0.01)
    with pytest.raises(TimeoutError, match=r"answer `tools/list` within 0.01 s$"):
        await session.list_tools()
    session._process_exit.invalid_lines = 3
    with pytest.raises(TimeoutError, match=r"; stdout has .* not JSON-RPC \(3\)"):
        await session.list_tools()


@pytest.mark.parametrize(
    ("declared", "prompts"), [({}, []), ({"prompts": object()}, [{"name": "p"}])]
)
async def test_mcp_client_requests_only_lists_declared_in_server_capabilities(
    declared: dict[str, Any], prompts: list[Any]
) -> None:
    """A list that the server refuses is empty."""
    session = make_session(FakeClient(resources=object(), **declared))
    lists = {"resources": [], "resourceTemplates": [], "prompts": prompts}
    assert await session.list_other_lists() == lists


NOTIFIES = SimpleNamespace(list_changed=True)
NO_CHANGES = SimpleNamespace(list_changed=False)


@pytest.mark.parametrize(
    ("client", "locked", "subscribed"),
    [
        (FakeClient("2025-11-25", tools=NOTIFIES), True, None),
        (FakeClient(), True, None),
        (FakeClient(tools=NO_CHANGES), True, None),
        (FakeClient(prompts=NOTIFIES), False, None),
        (FakeClient(tools=NOTIFIES, prompts=NOTIFIES), False, (True, False, False)),
        (FakeClient(tools=NOTIFIES, resources=NOTIFIES), False, (True, False, False)),
        (FakeClient(tools=NOTIFIES, prompts=NOTIFIES), True, (True, False, True)),
        (FakeClient(resources=NOTIFIES), True, (False, True, False)),
    ],
)
async def test_mcp_client_subscribes_only_to_declared_and_relevant_list_changes(
    client: FakeClient, locked: bool, subscribed: tuple[bool, ...] | None
) -> None:
    """Changes of prompts and resources are relevant only for a locked server."""
    session = make_session(client, is_locked=locked)
    await session.subscribe()
    subscribed_kinds = [tuple(kinds.values()) for kinds in client.subscriptions]
    assert subscribed_kinds == ([] if subscribed is None else [subscribed])
    assert session._changed.is_set() is (subscribed is not None)


@pytest.mark.parametrize(
    ("message", "locked", "is_noticed"),
    [
        (types.ToolListChangedNotification(), False, True),
        (types.PromptListChangedNotification(), False, False),
        (types.PromptListChangedNotification(), True, True),
        (object(), True, False),
    ],
)
async def test_list_changed_notification_ends_the_wait_for_relevant_changes(
    message: Any, locked: bool, is_noticed: bool
) -> None:
    """Tool changes are always relevant; prompt changes only for a locked server."""
    session = make_session(FakeClient(), is_locked=locked)
    session.handle_notification(message)
    assert session._changed.is_set() is is_noticed
    await session.wait_for_change(0.001)
    assert not session._changed.is_set()


def make_result(text: str = "x") -> Any:
    content = [{"type": "text", "text": text}]
    return types.CallToolResult.model_validate({"content": content})


def make_input_request() -> Any:
    schema = {"type": "object", "properties": {}}
    params = types.ElicitRequestFormParams(message="Sure?", requested_schema=schema)
    requests = {"q": types.ElicitRequest(params=params)}
    return types.InputRequiredResult(input_requests=requests, request_state="s")


async def test_external_tool_call_returns_the_result_without_unset_fields() -> None:
    client = FakeClient()
    client.responses = [make_result()]
    response = await make_session(client).call("a", {"x": 1})
    assert response["content"] == [{"type": "text", "text": "x"}]
    assert "structuredContent" not in response
    assert (client.requests[0].name, client.requests[0].arguments) == ("a", {"x": 1})


async def test_mcp_server_input_requests_are_answered_up_to_a_limit() -> None:
    """Without a user who can answer, the call fails."""
    client = FakeClient()
    client.responses = [make_input_request(), make_result()]
    assert (await make_session(client, True).call("a", {}))["content"]
    second_request = client.requests[1]
    assert second_request.request_state == "s"
    assert second_request.input_responses["q"].content == {"key": "q"}
    client.responses = [make_input_request()]
    assert "and no user can be asked" in await get_refusal(client)
    client.responses = [make_input_request() for _ in range(99)]
    assert "requested input more than 10 times" in await get_refusal(client, True)


async def test_header_mismatch_error_refreshes_tool_list_and_repeats_a_call() -> None:
    client = FakeClient()
    client.pages = [make_page()]
    client.responses = [MCPError(types.HEADER_MISMATCH, "other"), make_result()]
    assert (await make_session(client).call("a", {}))["content"]
    rejected = "the tool's server rejected the request"
    client.responses = [MCPError(types.HEADER_MISMATCH, "x"), MCPError(-1, "still")]
    assert await get_refusal(client) == f"{rejected}: still"
    client.responses = [MCPError(-1, "no"), make_result()]
    assert await get_refusal(client) == f"{rejected}: no"


async def test_only_a_connection_closed_error_marks_an_mcp_session_as_lost() -> None:
    client = FakeClient()
    client.responses = [MCPError(types.CONNECTION_CLOSED, "Connection closed")] * 2
    session = make_session(client)
    assert not session.is_lost
    lost = "the connection to the tool's server was lost"
    with pytest.raises(RequestRefusedError, match=lost):
        await session.call("a", {})
    assert session.is_lost
    client.responses = [MCPError(-1, "no")]
    open_session = make_session(client)
    with pytest.raises(RequestRefusedError):
        await open_session.call("a", {})
    assert not open_session.is_lost


async def test_external_server_session_ends_after_its_running_requests() -> None:
    session = make_session(FakeClient())
    can_respond = asyncio.Event()
    running = asyncio.ensure_future(session._request(can_respond.wait()))
    await asyncio.sleep(0)
    ending = asyncio.ensure_future(session.end("stopped", 600.0))
    await asyncio.sleep(0)
    assert not ending.done()
    can_respond.set()
    assert await running
    await asyncio.wait_for(ending, 10)


def test_normalize_definition_preserves_null_and_unknown_mcp_tool_fields() -> None:
    for definition in ({**TOOL, "title": None}, {"name": 1}):
        assert normalize_definition("tools", definition) == definition
    listed = normalize_definition("tools", {**TOOL, "output_schema": {}})
    assert "outputSchema" not in listed, "only the key of MCP is read"
    prompt = {"name": "p", "input_schema": 1}
    assert normalize_definition("prompts", prompt)["name"] == "p"

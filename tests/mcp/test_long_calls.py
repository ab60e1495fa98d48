"""Calls that take long: progress from plain handlers, a heartbeat, and who can end them."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.mcp.servers import (
    ERAS,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    meta,
    stdio_server,
)

PACKAGE = "generated.unkind"
WAITING = ("wait_async", "wait_plainly")


@pytest.fixture(scope="module")
def web(unkind: Path) -> Iterator[HttpServer]:
    with http_server(unkind, PACKAGE) as server:
        yield server


@pytest.fixture(scope="module", params=ERAS)
def stdio(unkind: Path, request: pytest.FixtureRequest) -> Iterator[StdioServer]:
    with stdio_server(unkind, PACKAGE, era=request.param) as server:
        yield server


def sent(
    url: str, era: str, tool: str, token: str | None, **arguments: object
) -> http.client.HTTPConnection:
    """A connection on which a call was sent and nothing was read yet."""
    params: dict[str, object] = {"name": tool, "arguments": arguments}
    asked = {} if token is None else {"progressToken": token}
    params["_meta"] = meta(**asked) if era == MODERN else asked
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era,
    }
    if era == MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=60
    )
    connection.request("POST", parts.path, json.dumps(message), headers)
    return connection


def test_a_plain_handler_s_progress_rises_over_stdio(stdio: StdioServer) -> None:
    asked = {
        "name": "report_plainly",
        "arguments": {},
        "_meta": {"progressToken": "p"},
    }
    number = stdio.start("tools/call", asked)
    answer = stdio.answer(number)
    assert answer["result"]["content"][0]["text"] == "done"
    told = [message["params"] for message in stdio.notifications]
    stdio.notifications.clear()
    assert told == [
        {"progressToken": "p", "progress": 1, "total": 4, "message": "reading"},
        {"progressToken": "p", "progress": 1.000001, "total": 4, "message": "still"},
        {"progressToken": "p", "progress": 1.000002, "total": 4, "message": "again"},
        {"progressToken": "p", "progress": 4, "total": 4, "message": "done"},
    ]


@pytest.mark.parametrize("era", ERAS)
def test_a_plain_handler_s_progress_rises_over_http(web: HttpServer, era: str) -> None:
    body = sent(web.url, era, "report_plainly", "p").getresponse().read().decode()
    events = [json.loads(line[6:]) for line in body.splitlines() if "data: {" in line]
    assert [event["params"]["message"] for event in events[:-1]] == [
        "reading",
        "still",
        "again",
        "done",
    ]
    assert events[-1]["result"]["content"][0]["text"] == "done"


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_silent_call_keeps_its_connection_alive(web: HttpServer, era: str) -> None:
    connection = sent(web.url, era, "take_long", None, seconds=16)
    body = connection.getresponse().read().decode()
    assert body.startswith(": ping")
    assert '"done"' in body


@pytest.mark.parametrize("era", ERAS)
def test_nothing_is_advertised_that_the_server_cannot_do(
    web: HttpServer, era: str
) -> None:
    method: str = "server/discover"
    params: dict[str, object] = {}
    if era != MODERN:
        hello = {"name": "tests", "version": "1"}
        method = "initialize"
        params = {"protocolVersion": era, "capabilities": {}, "clientInfo": hello}
    result = web.request(era, method, params)["result"]
    expected = {"tools": {"listChanged": False}, "logging": {}}
    assert result["capabilities"] == expected


def test_nothing_is_sent_to_callers_that_did_not_ask(stdio: StdioServer) -> None:
    stdio.call("report_plainly")
    assert not stdio.notifications


@pytest.mark.parametrize("tool", WAITING)
def test_cancelling_over_stdio_ends_the_handler(stdio: StdioServer, tool: str) -> None:
    before = cancelled(text(stdio.call("cancelled")), tool)
    gone = {"requestId": stdio.start("tools/call", {"name": tool, "arguments": {}})}
    told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone}
    stdio.send(told)
    ended(lambda: text(stdio.call("cancelled")), tool, before)


@pytest.mark.rows(3)
@pytest.mark.parametrize("tool", WAITING)
@pytest.mark.parametrize("token", [None, "p"])
@pytest.mark.parametrize("era", ERAS)
def test_closing_a_request_ends_the_handler(
    web: HttpServer, era: str, tool: str, token: str | None
) -> None:
    def so_far() -> str:
        asked = {"name": "cancelled", "arguments": {}}
        return text(web.request(era, "tools/call", asked))

    before = cancelled(so_far(), tool)
    connection = sent(web.url, era, tool, token)
    time.sleep(0.2)
    connection.close()
    ended(so_far, tool, before)


def test_a_time_out_is_seen_by_a_plain_handler(stdio: StdioServer) -> None:
    assert "did not answer within 0.2 s" in text(stdio.call("give_up_plainly"))
    ended(lambda: text(stdio.call("cancelled")), "give_up_plainly", 0)


def text(answer: dict[str, object]) -> str:
    result = answer["result"]
    assert isinstance(result, dict)
    said: str = result["content"][0]["text"]
    return said


def cancelled(told: str, tool: str) -> int:
    """How many calls of a tool were cancelled, as the handlers tell it."""
    names: list[str] = json.loads(told)
    return names.count(tool)


def ended(so_far: Callable[[], str], tool: str, before: int) -> None:
    """Waits until one more call of a tool was cancelled."""
    deadline = time.monotonic() + 20
    while cancelled(so_far(), tool) == before:
        assert time.monotonic() < deadline, f"{tool} was not cancelled"
        time.sleep(0.02)

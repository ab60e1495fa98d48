"""Long calls: progress from synchronous handlers, heartbeat and cancellation."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.http.serving import rpc
from tests.mcp.servers import (
    CLIENT,
    ERAS,
    MODERN,
    HttpServer,
    StdioServer,
    get_text,
    http_server,
    stdio_server,
)
from tests.waiting import wait_until

PACKAGE = "generated.faulty"
WAITING_TOOLS = ("wait_async", "wait_plainly")


@pytest.fixture(scope="module")
def web_server(faulty_project: Path) -> Iterator[HttpServer]:
    with http_server(faulty_project, PACKAGE) as server:
        yield server


@pytest.fixture(scope="module", params=ERAS)
def stdio(
    request: pytest.FixtureRequest, faulty_project: Path
) -> Iterator[StdioServer]:
    with stdio_server(faulty_project, PACKAGE, era=request.param) as server:
        yield server


def send_call(
    url: str, era: str, tool: str, token: str | None, **arguments: object
) -> http.client.HTTPConnection:
    """Send a call and return the connection before any response is read."""
    meta = {} if token is None else {"progressToken": token}
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body, headers = rpc("tools/call", params, modern=era == MODERN)
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=60)
    connection.request("POST", parts.path, body, headers)
    return connection


def test_sync_handler_progress_values_always_rise_in_mcp_notifications_over_stdio(
    stdio: StdioServer,
) -> None:
    """Repeated and smaller values are sent as slightly larger values.

    Without a progress token, none is sent.
    """
    params = {"name": "report_plainly", "arguments": {}}
    number = stdio.start("tools/call", {**params, "_meta": {"progressToken": "p"}})
    assert get_text(stdio.answer(number)) == "done"
    progress = [message["params"] for message in stdio.notifications]
    stdio.notifications.clear()
    values = {"reading": 1, "still": 1.000001, "again": 1.000002, "done": 4}
    assert progress == [
        {"progressToken": "p", "progress": value, "total": 4, "message": text}
        for text, value in values.items()
    ]
    stdio.call("report_plainly")
    assert not stdio.notifications


@pytest.mark.parametrize("era", ERAS)
def test_sync_handler_progress_is_sent_as_sse_events_over_http(
    web_server: HttpServer, era: str
) -> None:
    connection = send_call(web_server.url, era, "report_plainly", "p")
    body = connection.getresponse().read().decode()
    events = [json.loads(line[6:]) for line in body.splitlines() if "data: {" in line]
    messages = [event["params"]["message"] for event in events[:-1]]
    assert messages == ["reading", "still", "again", "done"]
    assert events[-1]["result"]["content"][0]["text"] == "done"


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_mcp_http_call_without_progress_sends_sse_pings_while_it_runs(
    web_server: HttpServer, era: str
) -> None:
    connection = send_call(web_server.url, era, "take_long", None, seconds=16)
    body = connection.getresponse().read().decode()
    assert body.startswith(": ping")
    assert '"done"' in body


@pytest.mark.parametrize("era", ERAS)
def test_capabilities_list_only_supported_features(
    web_server: HttpServer, era: str
) -> None:
    """Capabilities in the answer to `initialize` and `server/discover` are exact."""
    params = {"protocolVersion": era, "capabilities": {}, "clientInfo": CLIENT}
    request = ("server/discover", {}) if era == MODERN else ("initialize", params)
    result = web_server.request(era, *request)["result"]
    assert result["capabilities"] == {"tools": {"listChanged": False}, "logging": {}}


@pytest.mark.parametrize("tool", WAITING_TOOLS)
def test_mcp_cancelled_notification_over_stdio_cancels_the_running_handler(
    stdio: StdioServer, tool: str
) -> None:
    before = count_calls(get_text(stdio.call("cancelled")), tool)
    params = {"requestId": stdio.start("tools/call", {"name": tool, "arguments": {}})}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    stdio.send(cancel)
    wait_for_another_call(lambda: get_text(stdio.call("cancelled")), tool, before)


@pytest.mark.rows(3)
@pytest.mark.parametrize("tool", WAITING_TOOLS)
@pytest.mark.parametrize("token", [None, "p"])
@pytest.mark.parametrize("era", ERAS)
def test_closing_an_mcp_call_http_connection_cancels_the_call_handler(
    web_server: HttpServer, era: str, tool: str, token: str | None
) -> None:
    def read_log(name: str) -> str:
        params = {"name": name, "arguments": {}}
        return get_text(web_server.request(era, "tools/call", params))

    before = count_calls(read_log("cancelled"), tool)
    started = count_calls(read_log("started"), tool)
    connection = send_call(web_server.url, era, tool, token)
    wait_for_another_call(lambda: read_log("started"), tool, started)
    connection.close()
    wait_for_another_call(lambda: read_log("cancelled"), tool, before)


def test_tool_timeout_sets_cancelled_for_a_sync_handler(stdio: StdioServer) -> None:
    assert "did not answer within 0.2 s" in get_text(stdio.call("give_up_plainly"))
    wait_for_another_call(
        lambda: get_text(stdio.call("cancelled")), "give_up_plainly", 0
    )


def count_calls(log: str, tool: str) -> int:
    """Return how often a tool is in the JSON array that a log tool returned."""
    names: list[str] = json.loads(log)
    return names.count(tool)


def wait_for_another_call(read_log: Callable[[], str], tool: str, before: int) -> None:
    """Wait until a log has one more call of a tool than before."""
    wait_until(lambda: count_calls(read_log(), tool) > before, read_log)

"""How a generated server behaves as a process: order, progress, cancellation, stdout, its end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.servers import (
    ERAS,
    LEGACY,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    stdio_server,
)

PACKAGE = "generated.unkind"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=ERAS)
def server(unkind: Path, request: pytest.FixtureRequest) -> Iterator[StdioServer]:
    with stdio_server(unkind, PACKAGE, era=request.param) as started:
        yield started


@pytest.fixture(scope="module")
def http(unkind: Path) -> Iterator[HttpServer]:
    with http_server(unkind, PACKAGE) as started:
        yield started


@pytest.mark.rows(2)
@pytest.mark.parametrize("tool", ["hang", "hang_async"])
def test_other_calls_are_answered_while_one_hangs(
    server: StdioServer, tool: str
) -> None:
    hanging = server.start("tools/call", {"name": tool, "arguments": {}})
    quick = server.start("tools/call", {"name": "add", "arguments": {"a": 1}})
    before = len(server.lines)
    assert server.answer(quick)["result"]["structuredContent"] == {"sum": 6}
    assert server.answer(hanging)["result"]["isError"] is True
    order = [line for line in server.lines[before:] if b'"id"' in line]
    assert [f'"id":{quick}'.encode() in line for line in order] == [True, False]


def test_handler_that_prints_disturbs_nobody(server: StdioServer) -> None:
    answer = server.call("chatter")
    assert answer["result"]["content"] == [{"type": "text", "text": "done"}]
    assert server.call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}
    assert not any(b"printed" in line or b"forged" in line for line in server.lines)


def test_handler_cannot_read_the_requests(server: StdioServer) -> None:
    assert server.call("read_stdin")["result"]["content"][0]["text"] == ""


def test_progress_reaches_the_caller_that_asked(server: StdioServer) -> None:
    asked = {"name": "report", "arguments": {}, "_meta": {"progressToken": "p"}}
    server.notifications.clear()
    number = server.start("tools/call", asked)
    told = [server.notification() for _ in range(2)]
    assert [message["method"] for message in told] == ["notifications/progress"] * 2
    assert [message["params"]["message"] for message in told] == ["half", "all"]
    assert {message["params"]["progressToken"] for message in told} == {"p"}
    assert server.answer(number)["result"]["content"][0]["text"] == "done"
    assert not server.call("report")["result"].get("isError")
    assert server.notifications == []


def test_cancelled_call_ends_its_handler(server: StdioServer) -> None:
    number = server.start("tools/call", {"name": "wait_async", "arguments": {}})
    assert server.call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}
    gone = {"requestId": number, "reason": "not needed"}
    server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": gone})
    while "wait_async" not in server.call("cancelled")["result"]["content"][0]["text"]:
        pass


def test_cursor_that_no_page_gave_is_refused(
    server: StdioServer, http: HttpServer
) -> None:
    params = {"cursor": "bogus"}
    assert server.request("tools/list", params)["error"]["code"] == -32602
    for era in ERAS:
        assert http.request(era, "tools/list", params)["error"]["code"] == -32602


def test_result_that_is_no_object_is_structured_where_the_protocol_has_it(
    unkind: Path, http: HttpServer
) -> None:
    with stdio_server(unkind, PACKAGE, era=MODERN) as modern:
        assert modern.call("array")["result"]["structuredContent"] == [1, 2]
    for era, structured in ((MODERN, [1, 2]), (LEGACY, None)):
        result = http.request(era, "tools/call", {"name": "array"})["result"]
        assert result.get("structuredContent") == structured
        assert result["content"] == [{"type": "text", "text": "[1, 2]"}]


def test_request_that_is_not_unicode_does_not_end_the_server(
    server: StdioServer, http: HttpServer
) -> None:
    server.start("tools/call", {"name": "\ud800", "arguments": {"\udfff": "\ud800"}})
    assert server.call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}
    for era in ERAS:
        given = {"name": "refuse", "arguments": {"reason": "\ud800"}}
        assert "jsonrpc" in http.request(era, "tools/call", given)


def test_server_ends_with_its_input_although_a_handler_hangs(unkind: Path) -> None:
    with stdio_server(unkind, PACKAGE, era=MODERN) as server:
        server.call("hang")
        assert server.end() == 0


@pytest.mark.slow
def test_two_processes_list_the_same(unkind: Path) -> None:
    lists = set()
    for seed in ("1", "2"):
        with stdio_server(unkind, PACKAGE, env={"PYTHONHASHSEED": seed}) as server:
            server.request("tools/list")
            lists.add(server.lines[-1])
    assert len(lists) == 1


@pytest.mark.parametrize("era", ERAS)
def test_client_gets_only_what_it_is_allowed(era: str) -> None:
    with stdio_server(
        ROOT, "generated.kirishima", "--client", "external", era=era
    ) as server:
        tools = server.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["memory"]
        for name in ("github_issue", "get_personality", "nope"):
            error = server.call(name)["error"]
            assert error == {"code": -32602, "message": f"Unknown tool: {name}"}


def test_client_that_does_not_exist_is_not_served() -> None:
    command = [sys.executable, "-m", "generated.kirishima.mcp_server", "--client", "x"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 2
    assert "no client `x`" in run.stderr


def test_a_server_without_input_says_what_it_needs(unkind: Path) -> None:
    command = ["sh", "-c", f"exec {sys.executable} -m {PACKAGE}.mcp_server <&-"]
    run = subprocess.run(command, cwd=unkind, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith("cannot use stdin and stdout: Bad file descriptor\n")
    assert "Traceback" not in run.stderr

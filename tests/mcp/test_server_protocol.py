"""Generated server as a process: concurrency, progress, cancellation, stdout and exit."""

from __future__ import annotations

import os
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

PACKAGE = "generated.faulty"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module", params=ERAS)
def server(
    faulty_project: Path, request: pytest.FixtureRequest
) -> Iterator[StdioServer]:
    with stdio_server(faulty_project, PACKAGE, era=request.param) as started:
        yield started


@pytest.fixture(scope="module")
def http(faulty_project: Path) -> Iterator[HttpServer]:
    with http_server(faulty_project, PACKAGE) as started:
        yield started


@pytest.mark.rows(2)
@pytest.mark.parametrize("tool", ["hang", "hang_async"])
def test_hanging_mcp_call_over_stdio_does_not_block_other_calls(
    server: StdioServer, tool: str
) -> None:
    hanging = server.start("tools/call", {"name": tool, "arguments": {}})
    quick = server.start("tools/call", {"name": "add", "arguments": {"a": 1}})
    before = len(server.lines)
    assert server.answer(quick)["result"]["structuredContent"] == {"sum": 6}
    assert server.answer(hanging)["result"]["isError"] is True
    order = [line for line in server.lines[before:] if b'"id"' in line]
    assert [f'"id":{quick}'.encode() in line for line in order] == [True, False]


def test_text_printed_by_a_handler_does_not_reach_clients(server: StdioServer) -> None:
    """Text printed by a handler or its child process must not mix with the protocol."""
    answer = server.call("chatter")
    assert answer["result"]["content"] == [{"type": "text", "text": "done"}]
    assert server.call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}
    assert not any(b"printed" in line or b"forged" in line for line in server.lines)


def test_handler_stdin_in_an_mcp_stdio_server_is_empty(server: StdioServer) -> None:
    """Handlers that read stdin do not receive the client's requests."""
    assert server.call("read_stdin")["result"]["content"][0]["text"] == ""


def test_mcp_progress_is_sent_before_the_answer_only_for_a_call_with_a_progress_token(
    server: StdioServer,
) -> None:
    params = {"name": "report", "arguments": {}, "_meta": {"progressToken": "p"}}
    server.notifications.clear()
    answer = server.answer(server.start("tools/call", params))
    assert answer["result"]["content"][0]["text"] == "done"
    progress = [server.notifications.pop(0) for _ in range(2)]
    assert [message["method"] for message in progress] == ["notifications/progress"] * 2
    assert [message["params"]["message"] for message in progress] == ["half", "all"]
    assert {message["params"]["progressToken"] for message in progress} == {"p"}
    assert not server.call("report")["result"].get("isError")
    assert server.notifications == []


def test_mcp_tools_list_with_an_unknown_cursor_is_an_invalid_params_error(
    server: StdioServer, http: HttpServer
) -> None:
    params = {"cursor": "bogus"}
    assert server.request("tools/list", params)["error"]["code"] == -32602
    for era in ERAS:
        assert http.request(era, "tools/list", params)["error"]["code"] == -32602


def test_array_result_is_mcp_structured_content_only_in_the_stateless_version(
    faulty_project: Path, http: HttpServer
) -> None:
    """Handshake versions permit only objects as structured content."""
    with stdio_server(faulty_project, PACKAGE, era=MODERN) as modern:
        assert modern.call("array")["result"]["structuredContent"] == [1, 2]
    for era, structured in ((MODERN, [1, 2]), (LEGACY, None)):
        result = http.request(era, "tools/call", {"name": "array"})["result"]
        assert result.get("structuredContent") == structured
        assert result["content"] == [{"type": "text", "text": "[1, 2]"}]


def test_mcp_request_with_lone_surrogates_does_not_stop_the_server(
    server: StdioServer, http: HttpServer
) -> None:
    server.start("tools/call", {"name": "\ud800", "arguments": {"\udfff": "\ud800"}})
    assert server.call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}
    for era in ERAS:
        params = {"name": "refuse", "arguments": {"reason": "\ud800"}}
        assert "jsonrpc" in http.request(era, "tools/call", params)


def test_closed_stdin_stops_a_server_after_a_hanging_call(faulty_project: Path) -> None:
    with stdio_server(faulty_project, PACKAGE, era=MODERN) as server:
        server.call("hang")
        assert server.end() == 0


@pytest.mark.parametrize("era", ERAS)
def test_mcp_server_client_can_list_and_call_only_its_allowed_tools(era: str) -> None:
    """Calls to denied and to unknown tools have the same error."""
    client = ("--client", "external")
    with stdio_server(ROOT, "generated.kirishima", *client, era=era) as server:
        tools = server.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["memory"]
        for name in ("github_issue", "get_personality", "nope"):
            error = server.call(name)["error"]
            assert error == {"code": -32602, "message": f"Unknown tool: {name}"}


def test_mcp_stdio_server_with_closed_stdin_exits_with_code_2_and_no_traceback(
    faulty_project: Path,
) -> None:
    command = ["sh", "-c", f"exec {sys.executable} -m {PACKAGE}.mcp_server <&-"]
    run = subprocess.run(command, cwd=faulty_project, capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith("cannot use stdin and stdout: Bad file descriptor\n")
    assert "Traceback" not in run.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_mcp_server_list_option_on_a_full_disk_prints_an_error_with_help(
    faulty_project: Path,
) -> None:
    command = f"exec {sys.executable} -m {PACKAGE}.mcp_server --list >/dev/full"
    run = subprocess.run(
        ["sh", "-c", command], cwd=faulty_project, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr == (
        "error: the list cannot be written: No space left on device\n"
        "  help: write it to another file or program\n"
    )

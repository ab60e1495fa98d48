"""Generated server over stdio and HTTP: calls, concurrency, progress and exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

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
SECRET = "hunter2-hunter2"
FAILURES = (
    "raise chained exit interrupt stop generator cancel broken nan surrogate".split()
)
FAILURES += ["unserialisable", "wrong content", "content of the wrong kind"]

Call = Callable[[str, Mapping[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def http(faulty_project: Path) -> Iterator[HttpServer]:
    with http_server(faulty_project, PACKAGE) as server:
        yield server


@pytest.fixture(params=[f"{name}-{era}" for name in ("stdio", "http") for era in ERAS])
def call(request: pytest.FixtureRequest) -> Call:
    """Return a function that calls a tool, for each transport and protocol version."""
    transport, _, era = request.param.partition("-")
    if transport == "stdio":
        running: StdioServer = request.getfixturevalue("stdio")[era]
        return running.call
    server: HttpServer = request.getfixturevalue("http")

    def call_over_http(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        params = {"name": tool, "arguments": dict(arguments)}
        return server.request(era, "tools/call", params)

    return call_over_http


@pytest.fixture(scope="module")
def stdio(faulty_project: Path) -> Iterator[Mapping[str, StdioServer]]:
    """Yield a server over stdio for each protocol version."""
    with (
        stdio_server(faulty_project, PACKAGE, era=LEGACY) as legacy,
        stdio_server(faulty_project, PACKAGE, era=MODERN) as modern,
    ):
        yield {LEGACY: legacy, MODERN: modern}


@pytest.fixture(params=ERAS)
def server(
    request: pytest.FixtureRequest, stdio: Mapping[str, StdioServer]
) -> StdioServer:
    return stdio[request.param]


def get_error_text(answer: dict[str, Any]) -> str:
    """Assert that an answer is a readable tool error, and return its text."""
    result = answer["result"]
    assert result["isError"] is True, answer
    assert "structuredContent" not in result
    (block,) = result["content"]
    assert block["type"] == "text"
    text: str = block["text"]
    assert text.strip()
    assert "Traceback" not in text
    return text


def test_tool_result_is_sent_as_structured_content_and_json_text(call: Call) -> None:
    result = call("add", {"a": 1})["result"]
    assert not result.get("isError")
    assert result["structuredContent"] == {"sum": 6}
    assert [json.loads(block["text"]) for block in result["content"]] == [{"sum": 6}]


def test_mcp_tool_arguments_reach_the_handler_unchanged(call: Call) -> None:
    sent = {"z": None, "a": 1.0, "b": 1, "ü": [{"$x": 10**30, "from": ""}], "e": {}}
    result = call("echo", sent)["result"]
    text = result["content"][0]["text"]
    assert text == json.dumps(sent, ensure_ascii=False)


def test_mcp_tool_without_a_returns_schema_sends_only_text(call: Call) -> None:
    result = call("text", {})["result"]
    assert result["content"] == [{"type": "text", "text": "plain"}]
    assert "structuredContent" not in result
    result = call("order", {"meta": {"n": 1}})["result"]
    assert result["content"] == [{"type": "text", "text": '{"meta": {"n": 1}}'}]
    assert "structuredContent" not in result


def test_mcp_tool_can_be_called_by_its_declared_old_name(call: Call) -> None:
    assert call("plus", {"a": 1})["result"]["structuredContent"] == {"sum": 6}


def test_call_to_an_unknown_tool_is_an_invalid_params_error(call: Call) -> None:
    for name in ("nope", "ADD", "tools/list", "__init__", "x" * 5000):
        error = call(name, {})["error"]
        assert error["code"] == -32602
        assert "Unknown tool" in error["message"]


def test_mcp_tool_error_names_the_argument_that_violates_the_schema(call: Call) -> None:
    """The schema of `loose` permits other arguments, but its function has no `b`."""
    for tool, arguments, problem in (
        ("add", {}, "`a` is required"),
        ("add", {"a": "1"}, "`a` must be an integer"),
        ("add", {"a": True}, "`a` must be an integer"),
        ("add", {"a": None}, "`a` must be an integer"),
        ("add", {"a": 1, "c": 2}, "`c` is not a parameter"),
        ("loose", {"b": 1}, "`b` is not a parameter"),
    ):
        assert problem in get_error_text(call(tool, arguments))


def test_mcp_tool_arguments_are_validated_by_ecma_262_patterns_and_recursive_schemas(
    call: Call,
) -> None:
    assert not call("odd_pattern", {"a": "Ä"})["result"].get("isError")
    assert "`a` must match" in get_error_text(call("odd_pattern", {"a": "ä"}))
    assert not call("endless_reference", {"a": "A"})["result"].get("isError")
    for tool in ("broken_pattern", "far_reference", "no_schema"):
        assert "cannot be checked" in get_error_text(call(tool, {"a": "A"}))


def test_mcp_tool_call_without_a_loadable_handler_is_a_tool_error(call: Call) -> None:
    """Without a handler the text is `not implemented`, otherwise `cannot be loaded`."""
    assert "not implemented" in get_error_text(call("unwritten", {}))
    for tool in ("gone", "absent_module"):
        assert "cannot be loaded" in get_error_text(call(tool, {}))


def test_tool_error_text_of_a_handler_reaches_the_mcp_client(call: Call) -> None:
    text = "Closed on Sundays."
    assert get_error_text(call("refuse", {"reason": text})) == text


@pytest.mark.parametrize("tool", ["fail", "fail_async"])
def test_unexpected_handler_exception_hides_its_text_and_the_mcp_server_continues(
    call: Call, tool: str
) -> None:
    for how in FAILURES:
        answer = call(tool, {"how": how})
        assert SECRET not in json.dumps(answer)
        get_error_text(answer)
        assert call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}


def test_handler_result_that_violates_its_schema_is_a_tool_error(call: Call) -> None:
    assert "declared schema" in get_error_text(call("wrong_result", {}))
    assert "declared schema" in get_error_text(call("unmeasured_picture", {}))


def test_handler_image_block_is_sent_unchanged_in_the_mcp_result(call: Call) -> None:
    result = call("picture", {})["result"]
    (block,) = result["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert "structuredContent" not in result
    measured = call("measured_picture", {})["result"]
    assert measured["structuredContent"] == {"sum": 1}
    assert measured["content"] == [block]


@pytest.mark.rows(2)
def test_hanging_handler_becomes_a_tool_error_after_its_timeout(call: Call) -> None:
    for tool in ("hang", "hang_async"):
        assert "within 0.3 s" in get_error_text(call(tool, {}))


@pytest.mark.rows(2)
def test_eight_hanging_handlers_do_not_block_the_next_mcp_call(call: Call) -> None:
    for _ in range(8):
        get_error_text(call("hang_briefly", {}))
    assert call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}


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

"""Answers of a generated server to valid and failing calls, over stdio and HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.servers import ERAS, HttpServer, http_server, stdio_server

PACKAGE = "generated.faulty"
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
        stdio_call: Call = request.getfixturevalue("stdio")[era]
        return stdio_call
    server: HttpServer = request.getfixturevalue("http")

    def call_over_http(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        params = {"name": tool, "arguments": dict(arguments)}
        return server.request(era, "tools/call", params)

    return call_over_http


@pytest.fixture(scope="module")
def stdio(faulty_project: Path) -> Iterator[Mapping[str, Call]]:
    """Yield the functions that call a server over stdio, by protocol version."""
    with (
        stdio_server(faulty_project, PACKAGE, era=ERAS[0]) as legacy,
        stdio_server(faulty_project, PACKAGE, era=ERAS[1]) as modern,
    ):
        yield {ERAS[0]: legacy.call, ERAS[1]: modern.call}


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
    """A spec without a handler and a handler that cannot be imported differ."""
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

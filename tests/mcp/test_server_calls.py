"""What a generated server answers to calls, kind and unkind, in both eras over both transports."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.servers import ERAS, MODERN, HttpServer, http_server, stdio_server

PACKAGE = "generated.unkind"
SECRET = "hunter2-hunter2"
WAYS = (
    "raise",
    "chained",
    "exit",
    "interrupt",
    "stop",
    "generator",
    "cancel",
    "broken",
    "unserialisable",
    "nan",
    "surrogate",
    "wrong content",
    "content of the wrong kind",
)

Call = Callable[[str, Mapping[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module")
def http(unkind: Path) -> Iterator[HttpServer]:
    with http_server(unkind, PACKAGE) as server:
        yield server


@contextmanager
def _over_http(server: HttpServer, era: str) -> Iterator[Call]:
    def call(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        given = {"name": tool, "arguments": dict(arguments)}
        return server.request(era, "tools/call", given)

    yield call


@pytest.fixture(params=[f"{way}-{era}" for way in ("stdio", "http") for era in ERAS])
def call(request: pytest.FixtureRequest) -> Iterator[Call]:
    """Calls a tool, by each transport in each era; one server each for the module."""
    way, _, era = request.param.partition("-")
    if way == "http":
        with _over_http(request.getfixturevalue("http"), era) as over_http:
            yield over_http
    else:
        yield request.getfixturevalue(
            f"stdio_{'modern' if era == MODERN else 'legacy'}"
        )


@pytest.fixture(scope="module")
def stdio_legacy(unkind: Path) -> Iterator[Call]:
    with stdio_server(unkind, PACKAGE, era=ERAS[0]) as server:
        yield server.call


@pytest.fixture(scope="module")
def stdio_modern(unkind: Path) -> Iterator[Call]:
    with stdio_server(unkind, PACKAGE, era=ERAS[1]) as server:
        yield server.call


def error_text(answer: dict[str, Any]) -> str:
    """The text of a tool's error, which must be one that a model can read."""
    result = answer["result"]
    assert result["isError"] is True, answer
    assert "structuredContent" not in result
    (block,) = result["content"]
    assert block["type"] == "text"
    text: str = block["text"]
    assert text.strip()
    assert "Traceback" not in text
    return text


def test_result_is_structured_and_text(call: Call) -> None:
    result = call("add", {"a": 1})["result"]
    assert not result.get("isError")
    assert result["structuredContent"] == {"sum": 6}
    assert [json.loads(block["text"]) for block in result["content"]] == [{"sum": 6}]


def test_arguments_reach_the_handler_as_they_were_sent(call: Call) -> None:
    sent = {"z": None, "a": 1.0, "b": 1, "ü": [{"$x": 10**30, "from": ""}], "e": {}}
    result = call("echo", sent)["result"]
    text = result["content"][0]["text"]
    assert text == json.dumps(sent, ensure_ascii=False)


def test_tool_without_declared_result_gives_text_alone(call: Call) -> None:
    result = call("text", {})["result"]
    assert result["content"] == [{"type": "text", "text": "plain"}]
    assert "structuredContent" not in result


def test_former_name_is_still_called(call: Call) -> None:
    assert call("plus", {"a": 1})["result"]["structuredContent"] == {"sum": 6}


@pytest.mark.parametrize("name", ["nope", "ADD", "tools/list", "__init__", "x" * 5000])
def test_unknown_tool_is_a_protocol_error(call: Call, name: str) -> None:
    error = call(name, {})["error"]
    assert error["code"] == -32602
    assert "Unknown tool" in error["message"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "`a` is required"),
        ({"a": "1"}, "`a` must be an integer"),
        ({"a": True}, "`a` must be an integer"),
        ({"a": None}, "`a` must be an integer"),
        ({"a": 1, "c": 2}, "`c` is not a parameter"),
    ],
)
def test_bad_arguments_are_named(
    call: Call, arguments: dict[str, Any], problem: str
) -> None:
    assert problem in error_text(call("add", arguments))


def test_argument_that_the_handler_does_not_take_is_refused(call: Call) -> None:
    assert "`b` is not a parameter" in error_text(call("loose", {"b": 1}))


def test_schema_beyond_python_is_applied(call: Call) -> None:
    """A pattern in the words of ECMA-262, and a schema that refers to itself."""
    assert not call("odd_pattern", {"a": "Ä"})["result"].get("isError")
    assert "`a` must match" in error_text(call("odd_pattern", {"a": "ä"}))
    assert not call("endless_reference", {"a": "A"})["result"].get("isError")


@pytest.mark.parametrize("tool", ["broken_pattern", "far_reference", "no_schema"])
def test_arguments_that_cannot_be_checked_are_refused(call: Call, tool: str) -> None:
    assert "cannot be checked" in error_text(call(tool, {"a": "A"}))


def test_handler_that_is_not_there_is_told_apart(call: Call) -> None:
    assert "not implemented" in error_text(call("unwritten", {}))
    for tool in ("gone", "absent_module"):
        assert "cannot be loaded" in error_text(call(tool, {}))


def test_handlers_own_error_reaches_the_caller(call: Call) -> None:
    assert error_text(call("refuse", {"reason": "Closed on Sundays."})) == (
        "Closed on Sundays."
    )


@pytest.mark.rows(30)
@pytest.mark.parametrize("tool", ["fail", "fail_async"])
@pytest.mark.parametrize("how", WAYS)
def test_text_of_an_exception_stays_inside(call: Call, tool: str, how: str) -> None:
    answer = call(tool, {"how": how})
    assert SECRET not in json.dumps(answer)
    error_text(answer)
    assert call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}


def test_result_that_breaks_its_schema_is_an_error(call: Call) -> None:
    assert "declared schema" in error_text(call("wrong_result", {}))
    assert "declared schema" in error_text(call("unmeasured_picture", {}))


def test_content_blocks_are_sent_as_they_are(call: Call) -> None:
    result = call("picture", {})["result"]
    (block,) = result["content"]
    assert (block["type"], block["mimeType"]) == ("image", "image/png")
    assert "structuredContent" not in result
    measured = call("measured_picture", {})["result"]
    assert measured["structuredContent"] == {"sum": 1}
    assert measured["content"] == [block]


@pytest.mark.rows(2)
def test_call_without_an_answer_is_given_up(call: Call) -> None:
    for tool in ("hang", "hang_async"):
        assert "within 0.3 s" in error_text(call(tool, {}))


@pytest.mark.rows(2)
def test_calls_that_hang_do_not_keep_others_from_running(call: Call) -> None:
    for _ in range(8):
        error_text(call("hang_briefly", {}))
    assert call("add", {"a": 1})["result"]["structuredContent"] == {"sum": 6}

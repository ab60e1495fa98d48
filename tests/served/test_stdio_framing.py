"""Framing of stdio messages: lines, their limit, and messages with encoded parts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_types import JSONRPCResponse

from toolcast_runtime.stdio.framing import LineSplitter, RawJson, encode_message


def split_lines(chunks: Iterator[bytes], limit: int = 100) -> list[bytes | None]:
    """Return the lines of the chunks, with None for a line that is too long."""
    splitter, lines = LineSplitter(limit), list[bytes | None]()
    for chunk in chunks:
        lines += splitter.feed(chunk)
    return lines + list(splitter.finish())


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1_000])
def test_stdio_input_is_split_into_equal_lines_for_every_chunk_size(size: int) -> None:
    data = b"one\n\n \r\ntwo\r\n" + b"x" * 101 + b"\nthree\n" + b"y" * 100 + b"\nfour"
    chunks = (data[start : start + size] for start in range(0, len(data), size))
    expected = [b"one", b"two\r", None, b"three", b"y" * 100, b"four"]
    assert split_lines(chunks) == expected


def test_stdio_line_above_the_length_limit_is_not_stored() -> None:
    splitter = LineSplitter(100)
    for _ in range(1_000):
        assert list(splitter.feed(b"x" * 1_000)) == []
    assert splitter._parts == []
    assert list(splitter.feed(b"\nshort\n")) == [None, b"short"]


def test_stdio_server_reads_lines_up_to_16_mebibytes() -> None:
    longest = b"x" * 16 * 1024 * 1024
    lines = list(LineSplitter().feed(longest + b"\nx" + longest + b"\n"))
    assert lines[0] == longest and lines[1] is None


def test_raw_json_result_is_inserted_unchanged_into_the_stdio_message() -> None:
    result: dict[str, Any] = {"a": "tools", "tools": RawJson(b'[{"n":1.50}]'), "z": []}
    message = JSONRPCResponse(jsonrpc="2.0", id="t", result=result)
    assert encode_message(message) == (
        b'{"jsonrpc":"2.0","id":"t",'
        b'"result":{"a":"tools","tools":[{"n":1.50}],"z":[]}}\n'
    )


def test_stdio_answer_that_cannot_be_encoded_becomes_an_internal_error() -> None:
    message = JSONRPCResponse(jsonrpc="2.0", id=3, result={"text": "\ud800"})
    error = json.loads(encode_message(message))
    assert (error["id"], error["error"]["code"]) == (3, -32603)

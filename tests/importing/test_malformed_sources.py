"""Malformed tool lists: error messages with their position, within bounded time."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from toolcast.importing.source_file import MAX_SOURCE_BYTES, parse_source, read_source
from toolcast.mcp_client.server_listing import ListingError


def make_list(*names: str) -> bytes:
    """Return a JSON list of tools with these names."""
    return json.dumps([{"name": name, "inputSchema": {}} for name in names]).encode()


CASES = {
    "truncated JSON": (
        b'{"tools": [\n  {"name": "a", "inputSchema": {"type":',
        "x.json:2:40: not JSON: Expecting value",
    ),
    "empty file": (
        b" \n",
        "x.json:2:1: not JSON: Expecting value\n  help: the file is empty",
    ),
    "a web page": (
        b"\n<!DOCTYPE html><html>",
        "x.json:2:1: not JSON: Expecting value\n  help: the file is a web page: check whether"
        " its address requires a login",
    ),
    "UTF-16": (
        '[{"name": "a"}]'.encode("utf-16"),
        "x.json:1:1: not JSON: a byte is not UTF-8\n  help: the file appears to be UTF-16: save"
        " it as UTF-8",
    ),
    "invalid UTF-8": (
        b'[{"name": "\xff"}]',
        "x.json:1:12: not JSON: a byte is not UTF-8",
    ),
    "NaN": (
        b'[{"name": "NaN",\n "inputSchema": {"default": NaN}}]',
        "x.json:2:29: not JSON: `NaN` is not a JSON value",
    ),
    "a long number": (
        b'[{"name": "a", "inputSchema": {"maximum": ' + b"9" * 5000 + b"}}]",
        "x.json:1:43: not JSON: a number has 5,000 digits; the maximum is 4,000",
    ),
    "a big number": (
        b'[{"name": "a", "inputSchema": {"maximum": ' + b"9" * 500 + b"}}]",
        "x.json: `tools[0]` (`a`) has an integer of more than 100 digits",
    ),
    "endless nesting": (
        b"[" * 100_000,
        "x.json:1:1: not JSON: the value is nested too deeply",
    ),
    "deep schema": (
        b'[{"name": "a", "inputSchema": ' + b'{"a":' * 300 + b"1" + b"}" * 301 + b"]",
        "x.json: `tools[0]` (`a`) has more than 200 levels of nesting",
    ),
    "duplicate key": (
        b'\n[{"name": "a", "inputSchema": {}, "name": "b"}]',
        "x.json:2:2: an object has the key `name` twice",
    ),
    "duplicate key in JSON Lines": (
        b'{"name": "a",  "inputSchema": {}}\n\n{"name": "b", "name": "c"}\r\n',
        "x.json:3:1: an object has the key `name` twice",
    ),
    "duplicate tool": (make_list("a", "a"), "x.json: tool `a` is listed 2 times"),
    "path as name": (
        make_list("../../etc/passwd"),
        "x.json: `../../etc/passwd` is not a valid tool name: use 1 to 128 of A-Z a-z 0-9 _ . -",
    ),
    "control characters in a name": (
        make_list("a\x1b[2J\nerror: forged"),
        "x.json: `a\\x1b[2J\\nerror: forged` is not a valid tool name: use 1 to 128 of"
        " A-Z a-z 0-9 _ . -",
    ),
    "name of 10,000 characters": (
        make_list("a" * 10_000),
        f"x.json: `{'a' * 80}...` is not a valid tool name: use 1 to 128 of A-Z a-z 0-9 _ . -",
    ),
    "empty name": (make_list(""), "x.json: `` is not a valid tool name"),
    "a number as name": (
        b'[{"name": 1, "inputSchema": {}}]',
        "x.json: `tools[0].name` is missing or not a string",
    ),
    "a number as name, OpenAI": (
        b'[{"type": "function", "function": {"name": 1}}, 5]',
        "x.json: `tools[0].name` is missing or not a string\nx.json: `tools[1]` is not an object",
    ),
    "object without a list": (b'{"a": 1}', "x.json: not a `tools/list` result"),
    "string": (b'"tools"', "x.json: not a `tools/list` result"),
    "error response": (
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no\\u001b"}}',
        "x.json: the response is an error: no\\x1b",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_malformed_tool_list_file_is_an_error_with_its_position(case: str) -> None:
    data, message = CASES[case]
    # CPU time does not depend on the load of the machine.
    started = time.process_time()
    with pytest.raises(ListingError) as error:
        parse_source(data, "x.json")
    assert str(error.value).startswith(message)
    assert time.process_time() - started < 5


def test_tool_list_file_byte_order_mark_is_ignored() -> None:
    source = parse_source(b"\xef\xbb\xbf" + make_list("a"), "x.json")
    assert [tool["name"] for tool in source.listing.tools] == ["a"]


@pytest.mark.parametrize(
    ("count", "last"), [(20, "`a b 19` is not"), (1000, "and 980 more")]
)
def test_import_lists_at_most_twenty_tool_list_problems(count: int, last: str) -> None:
    """The last line has the number of the other problems."""
    with pytest.raises(ListingError) as error:
        parse_source(make_list(*(f"a b {n}" for n in range(count))), "x.json")
    *lines, last_line = str(error.value).split("\n")
    assert len(lines) <= 20 and last_line.startswith(f"x.json: {last}")


def test_import_source_that_is_not_a_regular_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, message in {
        "pipe": "this is a pipe, not a regular file",
        ".": "this is a folder, not a regular file",
        "nothing": "No such file or directory",
        "a\x1b": "No such file or directory",
    }.items():
        with pytest.raises(ListingError) as error:
            read_source(str(tmp_path / name))
        assert message in str(error.value)
        assert "\x1b" not in str(error.value)


def test_tool_list_file_larger_than_64_mib_is_rejected(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    with pytest.raises(ListingError, match="larger than 64 MiB"):
        read_source(str(tmp_path / "large.json"))
    assert MAX_SOURCE_BYTES == 64 * 1024 * 1024

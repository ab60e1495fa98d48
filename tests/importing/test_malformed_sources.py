"""Files that are no list of tools: what is told, with its place, and nothing else happens."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from toolcast.importing.source_file import MAX_SOURCE_BYTES, parse_source, read_source
from toolcast.mcp_client.server_listing import ListingError


def named(*names: str) -> bytes:
    return json.dumps([{"name": name, "inputSchema": {}} for name in names]).encode()


CASES = {
    "truncated": (
        b'{"tools": [\n  {"name": "a", "inputSchema": {"type":',
        "x.json:2:40: not JSON: Expecting value",
    ),
    "empty": (
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
    "no UTF-8": (
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
    "a key twice": (
        b'[{"name": "a",\n  "inputSchema": {"type": "x", "type": "object"}}]',
        "x.json:2:18: the object has the key `type` twice",
    ),
    "a key twice, in a list of a tool a line": (
        b'{"name": "a",  "inputSchema": {}}\n\n{"name": "b", "name": "c"}\r\n',
        "x.json:3:1: the object has the key `name` twice",
    ),
    "a tool twice": (named("a", "a"), "x.json: tool `a` is listed 2 times"),
    "a path": (
        named("../../etc/passwd"),
        "x.json: `../../etc/passwd` is not a valid tool name: use 1 to 128 of A-Z a-z 0-9 _ . -",
    ),
    "control characters": (
        named("a\x1b[2J\nerror: forged"),
        "x.json: `a\\x1b[2J\\nerror: forged` is not a valid tool name: use 1 to 128 of"
        " A-Z a-z 0-9 _ . -",
    ),
    "10,000 characters": (
        named("a" * 10_000),
        f"x.json: `{'a' * 80}...` is not a valid tool name: use 1 to 128 of A-Z a-z 0-9 _ . -",
    ),
    "no name": (named(""), "x.json: `` is not a valid tool name"),
    "a number as name": (
        b'[{"name": 1, "inputSchema": {}}]',
        "x.json: `tools[0].name` is missing or not a string",
    ),
    "a number as name, OpenAI": (
        b'[{"type": "function", "function": {"name": 1}}, 5]',
        "x.json: `tools[0].name` is missing or not a string\nx.json: `tools[1]` is not an object",
    ),
    "no list": (b'{"a": 1}', "x.json: not a `tools/list` result"),
    "a text": (b'"tools"', "x.json: not a `tools/list` result"),
    "an error": (
        b'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no\\u001b"}}',
        "x.json: the response is an error: no\\x1b",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_told(case: str) -> None:
    data, told = CASES[case]
    begin = time.monotonic()
    with pytest.raises(ListingError) as error:
        parse_source(data, "x.json")
    assert str(error.value).startswith(told)
    assert time.monotonic() - begin < 5


def test_a_byte_order_mark_is_passed_over() -> None:
    source = parse_source(b"\xef\xbb\xbf" + named("a"), "x.json")
    assert [tool["name"] for tool in source.listing.tools] == ["a"]


def test_many_problems_are_told_up_to_a_bound() -> None:
    with pytest.raises(ListingError) as error:
        parse_source(named(*(f"a b {n}" for n in range(1000))), "x.json")
    lines = str(error.value).split("\n")
    assert len(lines) == 21 and lines[-1] == "x.json: and 980 more"


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, told in {
        "pipe": "this is a pipe, not a regular file",
        ".": "this is a folder, not a regular file",
        "nothing": "No such file or directory",
        "a\x1b": "No such file or directory",
    }.items():
        with pytest.raises(ListingError) as error:
            read_source(str(tmp_path / name))
        assert told in str(error.value)
        assert "\x1b" not in str(error.value)


def test_100_megabytes(tmp_path: Path) -> None:
    with (tmp_path / "large.json").open("wb") as stream:
        stream.truncate(100 * 1024 * 1024)
    with pytest.raises(ListingError, match="larger than 64 MiB"):
        read_source(str(tmp_path / "large.json"))
    assert MAX_SOURCE_BYTES == 64 * 1024 * 1024

"""Calls that are recorded in a file: reading them, and comparison of two servers' results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolcast.mcp_client import recorded_calls
from toolcast.mcp_client.recorded_calls import RecordedCall, compare_calls, read_calls
from toolcast.mcp_client.server_listing import ListingError
from toolcast_runtime.core.server_settings import ExternalServer

TOOL = {
    "name": "add",
    "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
}
TEXT = {"content": [{"type": "text", "text": "a"}]}
OTHER = {"content": [{"type": "text", "text": "b"}]}


def test_read_calls_skips_blank_lines_and_defaults_to_empty_arguments(
    tmp_path: Path,
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text('{"tool": "a"}\n \n{"tool": "b", "arguments": {"x": 1}}', "utf-8")
    assert read_calls(str(path)) == [
        RecordedCall(f"{path}:1", "a", {}),
        RecordedCall(f"{path}:3", "b", {"x": 1}),
    ]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("\n{", ":2: not JSON: "),
        ("[]", ":1: not a call\n  help: write "),
        ('{"tool": 1}', ":1: not a call\n"),
        ('{"tool": "a", "arguments": null}', ":1: not a call\n"),
    ],
)
def test_read_calls_raises_listing_error_with_the_line_that_is_not_a_call(
    tmp_path: Path, text: str, error: str
) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(ListingError) as raised:
        read_calls(str(path))
    assert str(raised.value).startswith(f"{path}{error}")


def test_read_calls_raises_listing_error_for_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with pytest.raises(ListingError) as raised:
        read_calls(str(path))
    assert str(raised.value) == f"{path}: No such file or directory"


def test_read_calls_accepts_a_file_with_at_most_16_mib(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"tool": "a"}'.ljust(16 * 1024 * 1024))
    assert [call.tool for call in read_calls(str(path))] == ["a"]
    with path.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(ListingError, match=r"calls\.jsonl: larger than 16 MiB"):
        read_calls(str(path))


@pytest.mark.parametrize(
    ("arguments", "theirs", "ours", "message", "is_permitted"),
    [
        ({}, TEXT, {**TEXT, "isError": False}, None, None),
        ({}, TEXT, OTHER, "`content` is ", False),
        (
            {},
            {**TEXT, "structuredContent": {"a": 1, "b": 2}},
            {**TEXT, "structuredContent": {"b": 2, "a": 1}},
            None,
            None,
        ),
        (
            {},
            TEXT,
            {**TEXT, "structuredContent": 1},
            "`structuredContent` is 1, ",
            False,
        ),
        ({}, {**TEXT, "isError": True}, {**TEXT, "isError": True}, None, None),
        (
            {},
            {**TEXT, "isError": True},
            {**OTHER, "isError": True},
            "the error texts differ",
            True,
        ),
        ({}, TEXT, {**TEXT, "isError": True}, "`isError` is true, ", False),
        ({}, {**TEXT, "isError": True}, TEXT, "`isError` is false, ", False),
        (
            {"a": "1"},
            TEXT,
            {**OTHER, "isError": True},
            "the schema refuses arguments that the original converts: `a` ",
            True,
        ),
        ({"a": "1"}, TEXT, OTHER, "`content` is ", False),
        ({"a": "1"}, {**TEXT, "isError": True}, TEXT, "`isError` is false, ", False),
    ],
)
def test_one_calls_results_from_two_servers_differ_in_content_and_errors(
    monkeypatch: pytest.MonkeyPatch,
    arguments: Mapping[str, Any],
    theirs: Mapping[str, Any],
    ours: Mapping[str, Any],
    message: str | None,
    is_permitted: bool | None,
) -> None:
    """Other error texts and refused arguments are permitted; no message: equal."""
    original, generated = ExternalServer("original"), ExternalServer("generated")
    results = {"original": theirs, "generated": ours}
    monkeypatch.setattr(
        recorded_calls, "_run_calls", lambda server, *_: [results[server.name]]
    )
    call = RecordedCall("calls.jsonl:1", "add", arguments)
    differences = list(compare_calls(original, generated, [call], [TOOL]))
    assert [difference.is_permitted for difference in differences] == (
        [] if message is None else [is_permitted]
    )
    for difference in differences:
        assert difference.message.startswith(str(message))

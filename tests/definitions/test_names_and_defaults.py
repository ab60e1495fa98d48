"""Tools, calls and servers by default, and the names derived from tool names."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from toolcast_runtime import AccessError, Client, OverrideFile
from toolcast_runtime.core.access import Access
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.tool import (
    Tool,
    command_name,
    distinct_name,
    module_name,
    spec_name,
)
from toolcast_runtime.core.question import Question
from toolcast_runtime.core.safe_file import load_secret, read_regular_file

TOOL = Tool("a", "", "", {"inputSchema": {}})


def test_tool_source_affects_no_comparison_and_always_is_false_by_default() -> None:
    assert replace(TOOL, source="{}") == TOOL
    assert "source" not in repr(TOOL)
    assert not TOOL.always


def test_call_context_is_cancelled_only_after_cancel() -> None:
    context = CallContext("look")
    assert (context.cancelled, context.questions) == (False, None)
    context.cancel()
    assert context.cancelled


@pytest.mark.parametrize(
    ("tool", "module", "spec", "command"),
    [
        ("look", "look", "look", "look"),
        ("Look.At-it", "look_at_it", "Look.At-it", "look-at-it"),
        ("listPeers2Day", "listpeers2day", "listPeers2Day", "list-peers2-day"),
        ("", "tool_", "tool_", "tool"),
        ("é", "tool_", "é", "tool"),
        ("7up", "n7up", "7up", "tool-7up"),
        ("class", "tool_class", "class", "class"),
        ("con", "tool_con", "tool_con", "con"),
        ("com1", "tool_com1", "tool_com1", "com1"),
        ("LPT9.x", "lpt9_x", "tool_LPT9.x", "lpt9-x"),
        ("com0", "com0", "com0", "com0"),
        ("com10", "com10", "com10", "com10"),
        ("aux", "tool_aux", "tool_aux", "aux"),
        ("nul.txt", "nul_txt", "tool_nul.txt", "nul-txt"),
        (".a", "tool_a", "tool_.a", "a"),
        ("toolset", "toolset", "tool_toolset", "toolset"),
        ("Definitions", "definitions", "tool_Definitions", "definitions"),
        ("test_it", "tool_test_it", "test_it", "test-it"),
        ("it_test", "tool_it_test", "it_test", "it-test"),
        ("setup", "tool_setup", "setup", "setup"),
        ("conftest", "tool_conftest", "conftest", "conftest"),
    ],
)
def test_module_file_and_command_names_are_derived_from_tool_name(
    tool: str, module: str, spec: str, command: str
) -> None:
    assert (module_name(tool), spec_name(tool)) == (module, spec)
    assert command_name(tool) == command
    digest = hashlib.sha256(tool.encode()).hexdigest()
    assert distinct_name(tool) == f"{module}_{digest[:6]}"


def test_question_digest_depends_on_message_and_arguments_but_not_key_order() -> None:
    def digest(message: str = "a", **arguments: int) -> str:
        return Question("q", message, {"type": "object"}, "look", arguments).digest

    assert re.fullmatch("[0-9a-f]{32}", digest())
    assert digest(a=1, b=2) == digest(b=2, a=1)
    assert len({digest(), digest("b"), digest(a=1), digest(a=2)}) == 4


@pytest.mark.parametrize(("size", "is_accepted"), [(65_536, True), (65_537, False)])
def test_load_secret_rejects_a_secret_file_above_64_kibibytes(
    tmp_path: Path, size: int, is_accepted: bool
) -> None:
    file = tmp_path / "secret"
    file.write_text("s" * size)
    if is_accepted:
        assert load_secret("S", {"S_FILE": str(file)}) == "s" * size
    else:
        with pytest.raises(ValueError, match="is empty or cannot be read"):
            load_secret("S", {"S_FILE": str(file)})


def test_read_regular_file_returns_at_most_max_bytes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    for max_bytes, data in ((0, b""), (1, b"a"), (3, b"abc"), (4, b"abc")):
        assert read_regular_file(str(file), max_bytes) == data
    large_content = b"x" * 200_000
    file.write_bytes(large_content)
    assert read_regular_file(str(file), 1_000_000) == large_content
    # Files in /proc report a size of 0.
    if Path("/proc/self/status").exists():
        content = read_regular_file("/proc/self/status", 1_000_000)
        assert content.startswith(b"Name:")


@pytest.mark.parametrize(
    ("size", "is_accepted"), [(1_048_576, True), (1_048_577, False)]
)
def test_client_override_file_above_one_mebibyte_raises_access_error(
    tmp_path: Path, size: int, is_accepted: bool
) -> None:
    file = tmp_path / "override.json"
    file.write_text('{"a": {"deny": ["look"]}}'.ljust(size))
    access = Access({"a": Client("*")})
    override = OverrideFile("TOY_FILE", str(file))

    def apply_override() -> Access:
        return override.apply(access, lambda name: name, lambda _: True, {})

    if is_accepted:
        assert not apply_override().is_allowed("a", "look")
    else:
        with pytest.raises(AccessError, match="is larger than 1048576 bytes"):
            apply_override()

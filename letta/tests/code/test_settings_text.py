"""Edits of a settings file that keep all other text byte for byte."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcast_letta.code import settings_file
from toolcast_letta.code.json_text_edits import (
    InvalidJsonError,
    _detect_indent,
    _get_line_indent,
    append_element,
    parse_json,
    remove_element,
    replace_element,
    set_member,
)
from toolcast_letta.code.settings_file import Settings, SettingsError, resolve_home
from toolcast_letta.plan.agent_servers import format_alias

AGENT = "agent-local-1"
SERVER = {"name": "ren", "transport": "http", "url": "http://127.0.0.1:1/mcp"}

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=8,
)
layouts = st.sampled_from([None, 2, 4, "\t"])


@given(
    st.dictionaries(st.text(max_size=4), values), st.text(max_size=4), values, layouts
)
def test_set_member_edits_json_text_like_a_python_dict_assignment(
    before: dict[str, Any], key: str, value: Any, indent: Any
) -> None:
    text = json.dumps(before, indent=indent)
    after = parse_json(set_member(text, 0, key, value))
    assert after == {**before, key: value}
    assert list(after) == list({**before, key: value})


@given(st.lists(values, max_size=4), values, layouts)
def test_append_element_edits_json_text_like_python_list_append(
    before: list[Any], value: Any, indent: Any
) -> None:
    text = json.dumps(before, indent=indent)
    assert parse_json(append_element(text, 0, value)) == [*before, value]


def test_set_member_keeps_other_json_numbers_escapes_spacing_and_order() -> None:
    text = '{ "b":1.50,"a" :  [1e3, 12345678901234567890],\r\n  "\\u0063":"\\u00e9\\/" }\r\n'
    edited = set_member(text, 0, "new", 1)
    assert edited == text.replace('\\/" }', '\\/",\r\n  "new": 1 }')


def test_letta_code_settings_set_server_writes_json_with_two_spaces_indent(
    tmp_path: Path,
) -> None:
    before = {"agents": [{"agentId": AGENT, "baseUrl": "local:/x"}], "last": None}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(before, indent=2))
    after = Settings.read(file).set_server(AGENT, "local:/x", SERVER)
    before["agents"][0]["mcpServers"] = [SERVER]
    assert after.text == json.dumps(before, indent=2)


@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize(
    "before",
    [
        {},
        {"agents": []},
        {"agents": None},
        {"agents": [{"agentId": AGENT, "baseUrl": "http://other"}], "z": 1},
        {"agents": [{"agentId": AGENT, "mcpServers": []}]},
        {"agents": [{"agentId": AGENT, "mcpServers": None}]},
        {"agents": [{"agentId": AGENT, "mcpServers": [{"name": "x"}, {"name": "y"}]}]},
        {"agents": [{"agentId": AGENT, "mcpServers": [{"name": "ren", "extra": 1}]}]},
    ],
    ids=json.dumps,
)
def test_letta_code_settings_set_server_adds_or_updates_a_server_and_keeps_the_rest(
    tmp_path: Path, before: dict[str, Any], indent: Any
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(before, indent=indent))
    after = Settings.read(file).set_server(AGENT, None, SERVER)
    servers = after.list_servers(AGENT, None)
    assert {**next(s for s in servers if s["name"] == "ren"), **SERVER} == next(
        s for s in servers if s["name"] == "ren"
    )
    value = parse_json(after.text)
    for key, old in before.items():
        if key != "agents":
            assert value[key] == old
    for old in before.get("agents") or []:
        agent_after = next(
            agent
            for agent in value["agents"]
            if agent.get("baseUrl") == old.get("baseUrl")
        )
        names = [s["name"] for s in agent_after.get("mcpServers") or []]
        kept = [s["name"] for s in old.get("mcpServers") or []]
        assert names[: len(kept)] == kept
    assert after.set_server(AGENT, None, SERVER).text == after.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1,}', "line 1, column"),
        ('{\n // mine\n "a": 1}', "line 2, column 2"),
        ('{"a": 1, "a": 2}', "`a` occurs twice"),
        ("\ufeff{}", "byte order mark"),
        ('{"a": NaN}', "`NaN` is not valid JSON"),
        ("[]", "the settings are not an object"),
        ('{"agents": {}}', "`agents` is not an array"),
        ('{"agents": [1]}', "`agents` is not an array of objects"),
        ('{"agents": [{"mcpServers": [1]}]}', "`mcpServers` of an agent"),
        ("[" * 100_000, "cannot be read"),
        ("1" * 5000, "cannot be read"),
    ],
    ids=lambda value: value[:20],
)
def test_letta_code_settings_read_raises_for_invalid_json_and_keeps_the_file(
    tmp_path: Path, text: str, reason: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(text.encode())
    with pytest.raises(SettingsError, match=reason):
        Settings.read(file)
    assert file.read_bytes() == text.encode()


def test_letta_code_settings_write_keeps_file_permissions_and_a_symbolic_link(
    tmp_path: Path,
) -> None:
    real = tmp_path / "dotfiles" / "letta.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o640)
    link = tmp_path / "settings.json"
    link.symlink_to(real)
    before = Settings.read(link)
    before.set_server(AGENT, None, SERVER).write(before)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert Settings.read(real).list_servers(AGENT, None) == [SERVER]
    assert os.listdir(real.parent) == ["letta.json"]


def test_letta_code_settings_write_creates_a_new_file_with_mode_600(
    tmp_path: Path,
) -> None:
    before = Settings.read(tmp_path / ".letta" / "settings.json")
    before.set_server(AGENT, None, SERVER).write(before)
    assert stat.S_IMODE(before.path.stat().st_mode) == 0o600
    assert Settings.read(before.path).list_servers(AGENT, None) == [SERVER]


def test_letta_code_settings_write_raises_after_another_program_changed_the_file(
    tmp_path: Path,
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    before = Settings.read(file)
    file.write_text('{"mine": 1}')
    with pytest.raises(SettingsError, match="another program changed"):
        before.set_server(AGENT, None, SERVER).write(before)
    assert file.read_text() == '{"mine": 1}'


def test_letta_code_settings_write_keeps_the_previous_file_if_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")

    def raise_disk_full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", raise_disk_full)
    before = Settings.read(file)
    with pytest.raises(SettingsError, match="No space left"):
        before.set_server(AGENT, None, SERVER).write(before)
    assert file.read_text() == "{}"
    assert os.listdir(tmp_path) == ["settings.json"]


def test_letta_code_settings_read_raises_for_a_broken_symbolic_link(
    tmp_path: Path,
) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(SettingsError, match="broken symbolic link"):
        Settings.read(link)


@pytest.mark.parametrize(
    ("agent", "base_url", "expected"),
    [
        ("agent-1", None, None),
        ("agent-1", "https://api.letta.com/", None),
        ("agent-1", "http://127.0.0.1:8283/", "127.0.0.1:8283"),
        ("agent-local-1", None, "local:/home/me/.letta/lc-local-backend"),
        ("agent-local-1", "local:/srv/x/../y", "local:/srv/y"),
    ],
)
def test_letta_code_server_key_is_none_for_letta_cloud_and_otherwise_a_host_or_path(
    agent: str, base_url: str | None, expected: str | None
) -> None:
    assert resolve_home(agent, base_url, {"HOME": "/home/me"}) == expected


def test_format_alias_is_equal_for_server_names_with_dots_or_underscores() -> None:
    """Build the alias in Letta Code's tool name prefix `mcp__ALIAS__`."""
    assert (
        format_alias("my.server")
        == format_alias("my_server")
        == format_alias("my__server")
    )


def test_parse_json_raises_invalid_json_error_with_line_and_column() -> None:
    with pytest.raises(InvalidJsonError, match="line 1, column 2"):
        parse_json("{x}")


def test_letta_code_settings_read_limits_the_file_to_16_mebibytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int] = []

    def read(_: str, limit: int) -> bytes:
        limits.append(limit)
        return b"{}"

    monkeypatch.setattr(settings_file, "read_regular_file", read)
    assert Settings.read(tmp_path / "settings.json").exists
    assert limits == [16 << 20]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("{}", "  "),
        (" {} \n", "  "),
        ('{"a": 1}', ""),
        ('{\n  "a": 1\n}', "  "),
        ('{\n\t"a": {\n\t\t"b": 1}}', "\t"),
        ('{\n   \n "a": 1}', " "),
        ('{\n\n    "a": 1}', "    "),
        ('{"a":\n1}', ""),
    ],
)
def test_detect_indent_returns_the_indent_from_the_first_indented_json_line(
    text: str, unit: str
) -> None:
    assert _detect_indent(text) == unit


@pytest.mark.parametrize(
    ("text", "index", "after"),
    [
        ("[ 1, 2 , 3]", 0, "[ 2 , 3]"),
        ("[ 1, 2 , 3]", 1, "[ 1 , 3]"),
        ("[ 1, 2 , 3]", 2, "[ 1, 2]"),
        ("[ 1 ]", 0, "[]"),
        (" [\n 1\n]", 0, " []"),
    ],
)
def test_remove_element_removes_a_json_array_element_and_its_comma(
    text: str, index: int, after: str
) -> None:
    assert remove_element(text, 0, index) == after


def test_added_and_replaced_json_elements_use_the_surrounding_indent() -> None:
    text = '[\n  1,\n  {"a": 2}\n]'
    assert replace_element(text, 0, 0, [3]) == '[\n  [\n    3\n  ],\n  {"a": 2}\n]'
    assert append_element(text, 0, 3) == '[\n  1,\n  {"a": 2},\n  3\n]'
    assert append_element("[]", 0, 3) == "[\n  3\n]"
    assert append_element('{"a": []}', 6, 3) == '{"a": [3]}'
    assert set_member('{\r\n "a": {}\r\n}', 8, "b", 1) == (
        '{\r\n "a": {\r\n  "b": 1\r\n }\r\n}'
    )


def test_get_line_indent_returns_the_leading_whitespace_in_the_line_at_an_offset() -> (
    None
):
    for text, at, indent in (
        ("\n  {}", 3, "  "),
        ("  {}", 2, "  "),
        ('{\n\t"a": 1}', 4, "\t"),
        ("{}", 0, ""),
    ):
        assert _get_line_indent(text, at) == indent

"""Settings of external servers: tool names, provided tools and environment variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import ToolFilter
from toolcast_runtime.core.server_settings import (
    ExternalServer,
    MissingVariableError,
    ResolvedServer,
    expand_variables,
    resolve_server,
)


def make_server(**settings: Any) -> ExternalServer:
    return ExternalServer("far", **{"prefix": "p_", **settings})


def test_external_tool_names_are_converted_to_local_names_and_back() -> None:
    server = make_server(tools={"a": "own", "b": "p_a"})
    assert [server.get_local_name(name) for name in "abc"] == ["own", "p_a", "p_c"]
    local_names = ("own", "p_a", "p_c", "x")
    assert [server.get_server_name(name) for name in local_names] == [
        "a",
        "b",
        "c",
        "x",
    ]


@pytest.mark.parametrize(
    ("settings", "name", "expected"),
    [
        ({}, "p_a", True),
        ({}, "a", False),
        ({}, "p_", False),
        ({"prefix": ""}, "a", True),
        ({"prefix": ""}, "", False),
        ({"tools": {"a": "own"}}, "own", True),
        ({"tools": {"a": "own"}}, "p_a", False),
        ({"tools": {"b": "p_a"}}, "p_a", True),
        ({"deny": ("a",)}, "p_a", False),
        ({"deny": ("a",), "tools": {"b": "p_a"}}, "p_a", True),
        ({"allow": ("a",)}, "p_a", True),
        ({"allow": ("a",)}, "p_b", False),
        ({"allow": ("a",), "deny": ("a",)}, "p_a", False),
        ({"allow": ()}, "p_a", False),
    ],
)
def test_external_server_provides_a_tool_name_by_its_prefix_renames_allow_and_deny(
    settings: dict[str, Any], name: str, expected: bool
) -> None:
    """`can_provide` returns whether the server may have a tool of the name."""
    assert make_server(**settings).can_provide(name) is expected


@pytest.mark.parametrize(
    ("settings", "tool_filter", "expected"),
    [
        ({}, ToolFilter(), True),
        ({}, ToolFilter(only=["p_a"]), True),
        ({}, ToolFilter(only=["a"]), False),
        ({}, ToolFilter(only=[]), False),
        ({}, ToolFilter(only=["p_a"], excluded=["p_a"]), False),
        ({}, ToolFilter(excluded=["p_a"]), True),
        ({"allow": ("a", "b")}, ToolFilter(excluded=["p_a"]), True),
        ({"allow": ("a",)}, ToolFilter(excluded=["p_a"]), False),
        ({"allow": ()}, ToolFilter(), False),
        ({"clients": ("me",)}, ToolFilter(client="me"), True),
        ({"clients": ("me",)}, ToolFilter(client="you"), False),
        ({"clients": ("me",)}, ToolFilter(), True),
        ({"clients": None}, ToolFilter(client="you"), True),
    ],
)
def test_external_server_without_tools_for_a_client_or_tool_filter_is_not_needed(
    settings: dict[str, Any], tool_filter: ToolFilter, expected: bool
) -> None:
    """`can_provide_any` returns whether a listing needs a connection to the server."""
    assert make_server(**settings).can_provide_any(tool_filter) is expected


def test_variable_references_in_server_settings_are_expanded_with_defaults() -> None:
    """`${NAME:-default}` has a default value."""
    environment = {"A": "x", "E": ""}
    template = "${A} ${B:-y} ${E:-z} ${E:-}|$A ${1} ${A:-}"
    assert expand_variables(template, environment) == "x y z |$A ${1} x"
    for text in ("${B}", "${E}"):
        with pytest.raises(
            MissingVariableError, match=rf"variable {text[2]} is not set"
        ):
            expand_variables(text, environment)


def test_environment_values_in_external_server_settings_are_listed_as_secrets() -> None:
    server = make_server(
        command="${COMMAND}",
        args=("${ARGUMENT}",),
        cwd="${FOLDER:-/tmp}",
        env={"TOKEN": "${TOKEN}", "PLAIN": "plain"},
        whole_environment=True,
        headers={
            "Authorization": "Bearer ${LONGER} ",
            "X-None": "${NONE:-}",
            "X-Some": "${NONE:-some}",
            "X-Plain": "",
        },
        url="https://${HOST:-a.example}/${SHORT}",
    )
    environment = {
        "COMMAND": "command",
        "ARGUMENT": "argument",
        "TOKEN": "s3cret",
        "LONGER": "s3cret-longer",
        "SHORT": "short",
    }
    assert resolve_server(server, environment) == ResolvedServer(
        command="command",
        args=("argument",),
        env={"TOKEN": "s3cret", "PLAIN": "plain"},
        whole_environment=True,
        cwd="/tmp",
        url="https://a.example/short",
        headers={
            "Authorization": "Bearer s3cret-longer",
            "X-Some": "some",
            "X-Plain": "",
        },
        secrets=("s3cret-longer", "s3cret"),
    )
    assert (
        repr(resolve_server(server, environment))
        == "ResolvedServer(whole_environment=True)"
    )
    with pytest.raises(MissingVariableError):
        resolve_server(make_server(headers={"X": "${NONE:-} ${NONE}"}), {})
    assert resolve_server(make_server(), {}) == ResolvedServer()


def test_secret_file_is_read_without_spaces_and_byte_order_mark(tmp_path: Path) -> None:
    """An unreadable one is an error, even if the reference has a default."""
    file = tmp_path / "token"
    server = make_server(headers={"X": "Bearer ${TOKEN:-none}"})
    environment = {"TOKEN_FILE": str(file)}
    for content in (None, "", "   \n", "x" * 100_000):
        if content is not None:
            file.write_text(content)
        message = "the file that TOKEN_FILE names is empty or cannot be read"
        with pytest.raises(MissingVariableError, match=message):
            resolve_server(server, environment)
    for content in ("token", "\ufefftoken", " token\r\n", "token\n\n"):
        file.write_text(content, encoding="utf-8", newline="")
        assert resolve_server(server, environment).headers == {"X": "Bearer token"}


@pytest.mark.parametrize("value", ["a\nX-Other: 1", "a\x00", "s\u00e9", "\u200bs"])
def test_header_with_control_or_non_ascii_character_is_rejected(value: str) -> None:
    server = make_server(headers={"X": "a ${TOKEN}"})
    with pytest.raises(MissingVariableError) as raised:
        resolve_server(server, {"TOKEN": value})
    assert str(raised.value) == (
        "the header X has a line break or a character outside of ASCII; help: correct its"
        " variables"
    )

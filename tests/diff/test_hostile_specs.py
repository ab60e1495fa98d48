"""Comparison of hostile specs: printable one-line messages and linear time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.diff.single_changes import load_project
from toolcast.diff.comparison import Comparison, compare

MakeFields = Callable[[int], dict[str, Any]]
HOSTILE_TEXTS = [
    "::error::`file`%0A::set-output name=x::y",
    "one line\nand\u00a0another\tone",
    "</details><script>x()</script>\n\n# Title",
    "``` ![x](https://evil.example/a.png)",
    "{0.__class__} {} %s",
    "é" * 900,
]


def compare_and_check_messages(before: Any, after: Any) -> Comparison:
    """Compare two versions, and check that all messages are short, printable and balanced."""
    comparison = compare(load_project(before), load_project(after))
    messages = [change.message for change in comparison.changes]
    for message in (*messages, *(effect.message for effect in comparison.effects)):
        assert message.isprintable(), message
        assert message.count("`") % 2 == 0, message
        assert len(message) < 500
    return comparison


@pytest.mark.rows(3)
@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_diff_reports_hostile_texts_in_printable_messages(text: str) -> None:
    def build_version(text: str) -> Any:
        return {
            "note": {
                "description": text,
                "guidance": text,
                "service": text,
                "meta": {text: text},
                "skill": {"metadata": {"a": text}},
                "examples": [{"arguments": {text: text}, "title": text}],
                "annotations": {text: text},
                "execution": {text: text},
            },
            "toolset": {
                "instructions": text,
                "sections": {text: {"heading": "x", "intro": text}},
                "permissions": {text: text},
                "clients": {"a": {"allow": [text], "permissions": [text]}},
                "mcp_servers": {text: {"command": text, "env": {"A": text}}},
                "targets": {"mcp": {}, text: {text: text}},
                "reserved_names": [{"name": text, "reason": text}],
            },
        }

    plain, hostile = build_version("word"), build_version(text)
    assert len(compare_and_check_messages(plain, hostile).changes) > 20
    assert len(compare_and_check_messages(hostile, plain).changes) > 20
    assert compare_and_check_messages(hostile, build_version(text)).changes == []


def test_diff_reports_changed_mcp_servers_with_hostile_names() -> None:
    def build_version(path: str) -> Any:
        servers = {text: {"command": "x", "cwd": path} for text in HOSTILE_TEXTS}
        return {"toolset": {"mcp_servers": servers}}

    comparison = compare_and_check_messages(build_version("/a"), build_version("/b"))
    ids = [change.rule.id for change in comparison.changes]
    assert ids == ["server.cwd/changed"] * len(HOSTILE_TEXTS)


def test_diff_reports_changed_secrets_without_their_values() -> None:
    def build_version(secret: str) -> Any:
        secrets = {"args": ["--token", secret], "env": {"API_KEY": secret}}
        headers = {"Authorization": f"Bearer {secret}"}
        web = {"url": f"https://me:{secret}@mail.example/", "headers": headers}
        router = {"base_url": f"https://me:{secret}@models.example/", "model": "m"}
        servers = {"mail": {"command": "x", **secrets}, "web": web}
        return {"toolset": {"mcp_servers": servers, "router": router}}

    comparison = compare_and_check_messages(
        build_version("first-secret-of-mine"), build_version("other-secret-of-mine")
    )
    assert len(comparison.changes) == 5
    assert "secret-of-mine" not in repr(comparison)


# Linear work grows fourfold with four times the size, quadratic work sixteenfold. A ratio does
# not depend on the machine; the constant allows for costs that do not depend on the size.
MAX_GROWTH = 10
MAX_CONSTANT_SECONDS = 0.2


def measure_comparison(before: Any, after: Any) -> float:
    began = time.process_time()
    compare(before, after)
    compare(after, before)
    return time.process_time() - began


def assert_linear(small: float, large: float) -> None:
    assert large < MAX_GROWTH * small + MAX_CONSTANT_SECONDS


@pytest.mark.parametrize(
    "make_fields",
    [
        lambda n: {"description": "a b. " * 10 * n},
        lambda n: {"guidance": "`a_b` " * 10 * n},
        lambda n: {"when_to_use": "\n \n" * 15 * n},
        lambda n: {"summary": "ab_" * 15 * n},
        lambda n: {"clients": [f"client-{index}" for index in range(3 * n)]},
        lambda n: {"renamed_from": [f"name_{index}" for index in range(3 * n)]},
        lambda n: {"data": {"reads": [f"table_{index}" for index in range(3 * n)]}},
        lambda n: {"examples": [{"arguments": {"a": i}} for i in range(5 * n)]},
    ],
)
def test_diff_compares_large_tool_specs_in_linear_time(make_fields: MakeFields) -> None:
    def measure(size: int) -> float:
        note = {"note": make_fields(size), "other_tool": {}}
        return measure_comparison(load_project({"other_tool": {}}), load_project(note))

    assert_linear(measure(250), measure(1_000))


def build_server(count: int) -> dict[str, Any]:
    """Return an external server with many allowed and denied tools."""
    names = {"allow": "send", "deny": "read"}
    tools = {key: [f"{name}_{i}" for i in range(count)] for key, name in names.items()}
    return {"command": "x", **tools}


@pytest.mark.rows(2)
@pytest.mark.parametrize(
    "make_fields",
    [
        lambda n: {"clients": {"a": {"allow": [f"tool_{i}" for i in range(8 * n)]}}},
        lambda n: {"clients": {"a": {"permissions": [f"x{i}" for i in range(8 * n)]}}},
        lambda n: {"mcp_servers": {"mail": build_server(4 * n)}},
        lambda n: {
            "reserved_names": [{"name": f"n{i}", "reason": "x"} for i in range(3 * n)]
        },
    ],
)
def test_diff_compares_large_toolsets_in_linear_time(make_fields: MakeFields) -> None:
    server = {"mcp_servers": {"mail": {"command": "x"}}, "clients": {"a": {}}}

    def measure(size: int) -> float:
        toolset = {**server, **make_fields(size)}
        before = load_project({"toolset": server})
        return measure_comparison(before, load_project({"toolset": toolset}))

    assert_linear(measure(250), measure(1_000))

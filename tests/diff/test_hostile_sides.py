"""Specs that mean harm: what is said of their changes is one printable line, found in time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.diff.single_changes import loaded
from toolcast.diff.comparison import Comparison, compare

NASTY = [
    "::error::`file`%0A::set-output name=x::y",
    "one line\nand\u00a0another\tone",
    "</details><script>x()</script>\n\n# Title",
    "``` ![x](https://evil.example/a.png)",
    "{0.__class__} {} %s",
    "é" * 900,
]


def compared(before: Any, after: Any) -> Comparison:
    found = compare(loaded(before), loaded(after))
    messages = [change.message for change in found.changes]
    for message in (*messages, *(effect.message for effect in found.effects)):
        assert message.isprintable(), message
        assert message.count("`") % 2 == 0, message
        assert len(message) < 500
    return found


@pytest.mark.parametrize("text", NASTY)
def test_texts_that_are_no_words(text: str) -> None:
    def side(text: str) -> Any:
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

    plain, nasty = side("word"), side(text)

    assert len(compared(plain, nasty).changes) > 20
    assert len(compared(nasty, plain).changes) > 20
    assert compared(nasty, side(text)).changes == []


def test_keys_of_entries_that_both_sides_have() -> None:
    def side(path: str) -> Any:
        servers = {text: {"command": "x", "cwd": path} for text in NASTY}
        return {"toolset": {"mcp_servers": servers}}

    found = compared(side("/a"), side("/b"))

    assert [c.rule.id for c in found.changes] == ["server.cwd/changed"] * len(NASTY)


def test_a_secret_that_is_a_text_of_its_own_is_not_told() -> None:
    def side(secret: str) -> Any:
        server = {
            "command": "x",
            "args": ["--token", secret],
            "env": {"API_KEY": secret},
        }
        headers = {"Authorization": f"Bearer {secret}"}
        web = {"url": f"https://me:{secret}@mail.example/", "headers": headers}
        router = {"base_url": f"https://me:{secret}@models.example/", "model": "m"}
        return {
            "toolset": {"mcp_servers": {"mail": server, "web": web}, "router": router}
        }

    found = compared(side("first-secret-of-mine"), side("other-secret-of-mine"))

    assert len(found.changes) == 5
    assert "secret-of-mine" not in repr(found)


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "a b. " * 10_000},
        {"guidance": "`a_b` " * 10_000},
        {"when_to_use": "\n \n" * 15_000},
        {"summary": "ab_" * 15_000},
        {"clients": [f"client-{index}" for index in range(3_000)]},
        {"renamed_from": [f"name_{index}" for index in range(3_000)]},
        {"data": {"reads": [f"table_{index}" for index in range(3_000)]}},
        {"examples": [{"arguments": {"a": index}} for index in range(5_000)]},
    ],
)
def test_large_specs_take_little_time(fields: dict[str, Any]) -> None:
    before, after = loaded({"other_tool": {}}), loaded(
        {"note": fields, "other_tool": {}}
    )
    began = time.process_time()

    compare(before, after)
    compare(after, before)

    assert time.process_time() - began < 2


@pytest.mark.rows(2)
@pytest.mark.parametrize(
    "fields",
    [
        {"clients": {"a": {"allow": [f"tool_{n}" for n in range(8_000)]}}},
        {"clients": {"a": {"permissions": [f"may_{n}" for n in range(8_000)]}}},
        {
            "mcp_servers": {
                "mail": {
                    "command": "x",
                    "allow": [f"send_{n}" for n in range(4_000)],
                    "deny": [f"read_{n}" for n in range(4_000)],
                }
            }
        },
        {"reserved_names": [{"name": f"n{n}", "reason": "x"} for n in range(3_000)]},
    ],
)
def test_large_toolsets_take_little_time(fields: dict[str, Any]) -> None:
    server = {"mcp_servers": {"mail": {"command": "x"}}, "clients": {"a": {}}}
    before, after = loaded({"toolset": server}), loaded(
        {"toolset": {**server, **fields}}
    )
    began = time.process_time()

    compare(before, after)
    compare(after, before)

    assert time.process_time() - began < 2

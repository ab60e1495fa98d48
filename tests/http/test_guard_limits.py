"""What a guard lets through at each of its limits, and a step beyond them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.test_http_pieces import HOST, RIGHT, Asked, piece
from toolcast_runtime.http.request_limits import (
    AllowedHosts,
    count_values,
    measure_nesting,
    parse_message,
    replay_body,
)


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([piece(b"1" * 10)], 200),
        ([piece(b"1" * 11)], 413),
        ([piece(b"1" * 10, more=True), piece(b"")], 200),
        ([piece(b"1" * 10, more=True), piece(b"2")], 413),
        ([piece(b"1" * 11, more=True)], 413),
        ([{"type": "http.request"}], 200),
    ],
)
async def test_a_body_is_as_long_as_it_may_be(pieces: list[Any], status: int) -> None:
    asked = Asked(*pieces)
    assert await asked.by(HOST, RIGHT) == [status]
    whole = b"".join(one.get("body", b"") for one in pieces)
    assert asked.body == (whole if status == 200 else None)


@pytest.mark.parametrize(
    ("length", "status"), [(b"10", 200), (b"11", 413), (b"0" * 19 + b"1" + b"9", 200)]
)
async def test_a_length_is_as_it_may_be(length: bytes, status: int) -> None:
    asked = Asked(piece(b"1"))
    assert await asked.by(HOST, RIGHT, (b"content-length", length)) == [status]


@pytest.mark.parametrize(
    ("hosts", "header", "expected"),
    [
        (["a"], None, False),
        (["a"], "", False),
        (["a"], "a", True),
        (["a"], "A", True),
        (["A"], " a\t", True),
        (["a"], "a:8000", True),
        (["a"], "a:123456", False),
        (["a:8000"], "a:8000", True),
        (["a:8000"], "a", False),
        (["a:8000"], "a:8001", False),
        (["*"], "b:1", True),
        (["::1"], "[::1]", True),
        (["[::1]"], "::1", True),
        (["[::1]"], "[::1]:80", True),
        (["[::1]"], "[::2]", False),
        (["a"], "b", False),
    ],
)
def test_a_host_is_one_of_the_names(
    hosts: list[str], header: str | None, expected: bool
) -> None:
    assert AllowedHosts(hosts).allows_host(header) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, True),
        ("http://a", True),
        ("https://a:1", True),
        ("ftp://a", False),
        ("http://b", False),
        ("https://Page.example/", True),
        ("https://page.example:1", False),
        ("null", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_an_origin_may_send_requests(header: str | None, expected: bool) -> None:
    hosts = AllowedHosts(["a"], ["https://page.EXAMPLE/"])
    assert hosts.allows_origin(header) is expected


def test_a_text_is_counted_to_its_limits() -> None:
    assert measure_nesting(b"[" * 200) == measure_nesting(b"[]" * 200) == 200
    assert measure_nesting(b"[" * 201) == 201
    assert measure_nesting(b"[" * 300) == 201
    assert measure_nesting(b"[]" * 201) == 1
    assert measure_nesting(b"[[{}]]" * 99) == 3
    assert measure_nesting(b'["' + b"[" * 300 + b'"]') == 1
    assert measure_nesting(rb'["\"' + b"{" * 300 + b'"]') == 1
    assert count_values(b"[" + b"1," * 9_997 + b"1]") == 9_999
    assert count_values(b"[" + b"1," * 10_000 + b"1]") == 10_001
    assert count_values(b"[" + b"1," * 20_000 + b"1]") == 10_001
    assert count_values(b'["' + b"," * 20_000 + b'", {}]') == 4


async def test_a_body_is_given_again_and_then_what_comes() -> None:
    async def later() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    again = replay_body(b"abc", later)
    assert await again() == {"type": "http.request", "body": b"abc", "more_body": False}
    assert (await again())["type"] == "http.disconnect"


def test_a_message_is_an_object() -> None:
    assert parse_message(b'{"id": 1}') == {"id": 1}
    for body in (b"[1]", b"{", b"\xff", b""):
        assert parse_message(body) == {}

"""Requests at each limit of the HTTP guard and one step beyond it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.test_partial_requests import HOST, VALID_TOKEN, GuardedApp, body_message
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
        ([body_message(b"1" * 10)], 200),
        ([body_message(b"1" * 11)], 413),
        ([body_message(b"1" * 10, more=True), body_message(b"")], 200),
        ([body_message(b"1" * 10, more=True), body_message(b"2")], 413),
        ([body_message(b"1" * 11, more=True)], 413),
        ([{"type": "http.request"}], 200),
    ],
)
async def test_http_request_body_may_have_exactly_the_maximum_size(
    pieces: list[Any], status: int
) -> None:
    """A longer body is answered with 413."""
    app = GuardedApp(*pieces)
    assert await app.handle(HOST, VALID_TOKEN) == [status]
    expected = b"".join(piece.get("body", b"") for piece in pieces)
    assert app.body == (expected if status == 200 else None)


@pytest.mark.parametrize(
    ("length", "status"), [(b"10", 200), (b"11", 413), (b"0" * 19 + b"1" + b"9", 200)]
)
async def test_content_length_over_the_maximum_body_size_gets_413(
    length: bytes, status: int
) -> None:
    """A number of more than 20 digits is ignored."""
    app = GuardedApp(body_message(b"1"))
    assert await app.handle(HOST, VALID_TOKEN, (b"content-length", length)) == [status]


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
        (["a"], "a.b:80", False),
        (["a"], "a.", True),
        (["a"], "a..:1", False),
        (["a"], ".:1", False),
        (["a"], "a\xa0", False),
    ],
)
def test_host_header_must_match_an_allowed_host_and_its_port(
    hosts: list[str], header: str | None, expected: bool
) -> None:
    """Hosts without a port allow every port, and `*` allows every host."""
    assert AllowedHosts(hosts).allows_host(header) is expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, True),
        ("http://a", True),
        ("https://a:1", True),
        ("ftp://a", False),
        ("http://b", False),
        ("http://a.b", False),
        ("http://a@b", False),
        ("file://a", False),
        ("http://a.:1", True),
        ("https://Page.example/", True),
        ("https://page.example:1", False),
        ("null", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_origin_header_must_be_declared_or_an_http_url_on_an_allowed_host(
    header: str | None, expected: bool
) -> None:
    hosts = AllowedHosts(["a"], ["https://page.EXAMPLE/"])
    assert hosts.allows_origin(header) is expected


def test_json_levels_and_values_are_counted_only_to_just_above_the_limit() -> None:
    """Brackets and commas inside strings do not count."""
    assert measure_nesting(b"[" * 200) == measure_nesting(b"[]" * 200) == 200
    assert measure_nesting(b"[" * 201) == 201
    assert measure_nesting(b"[" * 300) == 201
    assert measure_nesting(b"[]" * 201) == 1
    assert measure_nesting(b"[[{}]]" * 99) == 3
    assert measure_nesting(b"[" + b"[]," * 200 + b"[[]]]") == 3
    assert measure_nesting(b'["' + b"[" * 300 + b'"]') == 1
    assert measure_nesting(rb'["\"' + b"{" * 300 + b'"]') == 1
    assert count_values(b"[" + b"1," * 9_997 + b"1]") == 9_999
    assert count_values(b"[" + b"1," * 10_000 + b"1]") == 10_001
    assert count_values(b"[" + b"1," * 20_000 + b"1]") == 10_001
    assert count_values(b'["' + b"," * 20_000 + b'", {}]') == 4
    assert count_values(rb'["\",' + b"," * 20_000 + b'", {}]') == 4
    assert count_values(b"[" + b"[]," * 6_000 + b"0]") == 10_001
    assert count_values(b"{" + b'"a":{"b":1},' * 6_000 + b'"c":1}') == 10_001


async def test_asgi_receive_returns_the_buffered_body_and_then_later_messages() -> None:
    """The HTTP guard reads the body before it calls the application."""

    async def receive_disconnect() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    receive = replay_body(b"abc", receive_disconnect)
    assert await receive() == body_message(b"abc")
    assert (await receive())["type"] == "http.disconnect"


def test_http_body_that_is_not_a_json_object_is_parsed_as_empty_dict() -> None:
    assert parse_message(b'{"id": 1}') == {"id": 1}
    for body in (b"[1]", b"{", b"\xff", b""):
        assert parse_message(body) == {}

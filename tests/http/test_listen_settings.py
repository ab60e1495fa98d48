"""Where a server listens, for whom, and what is missing for it: by its settings alone."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from toolcast_runtime.http import Endpoint, HttpSettings, OAuth, Scope
from toolcast_runtime.http.endpoints import (
    Issuer,
    ListenSettings,
    is_loopback,
    log_endpoints,
)
from toolcast_runtime.http.settings import SettingsError

LOCAL = ("127.0.0.1", "localhost", "::1")
TOKENS = {"A": "a-token", "B": "b-token"}


def _settings(**more: Any) -> HttpSettings:
    endpoints = (Endpoint("/a/", "a", "A"), Endpoint("/b/", "b", "B"))
    given: dict[str, Any] = {"endpoints": endpoints, **more}
    return HttpSettings(admin_variable="ADMIN", hosts_variable="HOSTS", **given)


@pytest.mark.parametrize(
    ("host", "environment", "hosts"),
    [
        ("127.0.0.1", {}, ("127.0.0.1", *LOCAL)),
        ("localhost", {}, ("localhost", *LOCAL)),
        ("::1", {"HOSTS": "x, y:1,,"}, ("x", "y:1", "::1", *LOCAL)),
        ("192.0.2.1", TOKENS, ("192.0.2.1",)),
        ("0.0.0.0", {**TOKENS, "HOSTS": "x"}, ("x", *LOCAL)),
        ("::", {**TOKENS, "HOSTS": "x"}, ("x", *LOCAL)),
        ("", {**TOKENS, "HOSTS": "x"}, ("x", *LOCAL)),
    ],
)
def test_hosts_are_those_that_are_named_and_its_own(
    host: str, environment: dict[str, str], hosts: tuple[str, ...]
) -> None:
    listening = ListenSettings.from_environment(_settings(), host, environment)
    assert (listening.hosts, listening.host) == (hosts, host)
    assert {*listening.tokens} == environment.keys() - {"HOSTS"}
    assert "tokens" not in repr(listening)


@pytest.mark.parametrize(
    ("host", "environment", "problems"),
    [
        ("192.0.2.1", {}, ["every client needs a token: set A, B"]),
        ("192.0.2.1", {"A": "x"}, ["every client needs a token: set B"]),
        ("0.0.0.0", TOKENS, ["`0.0.0.0` listens on all addresses", "set HOSTS"]),
        ("", TOKENS, ["the host names that clients use must be declared: set HOSTS"]),
        ("localhost", {"A": "x", "B": "x"}, ["A and B contain the same token"]),
        ("localhost", {"A": "x", "ADMIN": "x"}, ["A and ADMIN contain the same token"]),
        (
            "localhost",
            {"A_FILE": "/nowhere"},
            ["A_FILE cannot be read or has no token"],
        ),
    ],
)
def test_what_is_missing_is_told(
    host: str, environment: dict[str, str], problems: list[str]
) -> None:
    with pytest.raises(SettingsError) as refused:
        ListenSettings.from_environment(_settings(), host, environment)
    for problem in problems:
        assert problem in str(refused.value)
    assert ("needs a token" in str(refused.value)) is ("needs a token" in problems[0])


def test_an_authorization_server_stands_for_tokens() -> None:
    settings = _settings(oauth=OAuth("SHOP", ()))
    with pytest.raises(SettingsError) as refused:
        ListenSettings.from_environment(settings, "192.0.2.1", {})
    assert "every client needs a token" in str(refused.value)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("128.0.0.1", False),
        ("0.0.0.0", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


SET_UP = {
    "SHOP_PUBLIC_URL": "https://shop.example:1/",
    "SHOP_OAUTH_ISSUER": "https://login.example",
}


@pytest.mark.parametrize(
    ("given", "oauth", "problems"),
    [
        ({}, {}, []),
        ({"SHOP_PUBLIC_URL": ""}, {}, ["the server's public URL: set SHOP_PUBLIC"]),
        (
            {"SHOP_OAUTH_ISSUER": " "},
            {},
            ["authorization server's URL: set SHOP_OAUTH_ISSUER"],
        ),
        ({"SHOP_OAUTH_ISSUER": ""}, {"issuer": "https://login.example"}, []),
        ({"SHOP_PUBLIC_URL": "http://a.example"}, {}, ["SHOP_PUBLIC_URL must be an"]),
        ({"SHOP_OAUTH_JWKS_URI": "x"}, {}, ["SHOP_OAUTH_JWKS_URI must be an https"]),
        ({}, {"introspection": True}, ["_CLIENT_ID and SHOP_OAUTH_CLIENT_SECRET: set"]),
        (
            {"SHOP_OAUTH_CLIENT_ID": "x"},
            {"introspection": True},
            ["_CLIENT_ID and SHOP_OAUTH_CLIENT_SECRET: set"],
        ),
        (
            {"SHOP_OAUTH_CLIENT_ID": "x", "SHOP_OAUTH_CLIENT_SECRET": "y"},
            {"introspection": True},
            [],
        ),
    ],
)
def test_an_issuer_is_set_up_by_the_environment(
    given: dict[str, str], oauth: dict[str, Any], problems: list[str]
) -> None:
    issuer, found = Issuer.from_environment(
        OAuth("SHOP", (), **oauth), {**SET_UP, **given}
    )
    assert len(found) == len(problems)
    for problem, wanted in zip(found, problems, strict=True):
        assert wanted in problem
    if not problems:
        assert issuer.issuer == "https://login.example"
        assert issuer.public_url == "https://shop.example:1"
        assert issuer.hosts == ("shop.example:1",)
        assert repr(issuer) == "Issuer('https://login.example')"
        assert (issuer.credentials is None) is not oauth.get("introspection", False)


def test_an_issuer_that_is_not_set_up_names_no_host() -> None:
    issuer, _ = Issuer.from_environment(OAuth("SHOP", ()), {})
    assert (issuer.issuer, issuer.public_url, issuer.hosts) == ("", "", ())


def test_a_scope_opens_the_endpoints_of_its_clients() -> None:
    issuer, _ = Issuer.from_environment(
        OAuth("SHOP", (Scope("x"), Scope("y", ("a",)))), SET_UP
    )
    assert [issuer.has_scope_for(client) for client in (None, "a", "b")] == [
        True,
        True,
        False,
    ]


def test_each_endpoint_is_told_with_who_gets_in(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "toolcast.http")
    endpoints = (Endpoint("/mcp/", None, "A"), Endpoint("/b/", "b", "B"))
    listening = ListenSettings.from_environment(
        _settings(endpoints=endpoints), "localhost", {"A": "x"}
    )
    log_endpoints(listening, "http://x")
    assert [record.getMessage() for record in caplog.records] == [
        "serving the tools at http://x/mcp/ with the token in A",
        "serving `b` at http://x/b/ without authentication: B is not set",
    ]

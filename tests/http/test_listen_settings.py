"""Listen settings from the environment: hosts, tokens, issuer, and missing values."""

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


def _settings(**options: Any) -> HttpSettings:
    endpoints = (Endpoint("/a/", "a", "A"), Endpoint("/b/", "b", "B"))
    values: dict[str, Any] = {"endpoints": endpoints, **options}
    return HttpSettings(admin_variable="ADMIN", hosts_variable="HOSTS", **values)


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
def test_allowed_host_headers_are_the_configured_ones_and_the_listen_host(
    host: str, environment: dict[str, str], hosts: tuple[str, ...]
) -> None:
    """Local names are allowed too, unless the server listens on one public address."""
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
    ],
)
def test_listen_settings_refuse_missing_or_equal_tokens_and_missing_hosts(
    host: str, environment: dict[str, str], problems: list[str]
) -> None:
    with pytest.raises(SettingsError) as refused:
        ListenSettings.from_environment(_settings(), host, environment)
    for problem in problems:
        assert problem in str(refused.value)
    assert ("needs a token" in str(refused.value)) is ("needs a token" in problems[0])


def test_oauth_without_issuer_requires_bearer_tokens_on_a_public_address() -> None:
    settings = _settings(oauth=OAuth("SHOP", ()))
    with pytest.raises(SettingsError) as refused:
        ListenSettings.from_environment(settings, "192.0.2.1", {})
    assert "every client needs a token" in str(refused.value)


def test_is_loopback_accepts_localhost_127_addresses_and_ipv6_loopback() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1")))
    assert not any(map(is_loopback, ("128.0.0.1", "0.0.0.0", "example.org", "")))


ISSUER_ENVIRONMENT = {
    "SHOP_PUBLIC_URL": "https://shop.example:1/",
    "SHOP_OAUTH_ISSUER": "https://login.example",
}


@pytest.mark.parametrize(
    ("environment_changes", "oauth", "problems"),
    [
        ({}, {}, []),
        ({"SHOP_PUBLIC_URL": ""}, {}, ["the server's public URL: set SHOP_PUBLIC"]),
        ({"SHOP_OAUTH_ISSUER": " "}, {}, ["server's URL: set SHOP_OAUTH_ISSUER"]),
        ({"SHOP_OAUTH_ISSUER": "http://a.example"}, {}, ["SHOP_OAUTH_ISSUER must be"]),
        ({"SHOP_OAUTH_ISSUER": ""}, {"issuer": "https://login.example"}, []),
        ({"SHOP_PUBLIC_URL": "http://a.example"}, {}, ["SHOP_PUBLIC_URL must be an"]),
        ({"SHOP_OAUTH_JWKS_URI": "x"}, {}, ["SHOP_OAUTH_JWKS_URI must be an https"]),
        ({}, {"introspection": True}, ["_CLIENT_ID and SHOP_OAUTH_CLIENT_SECRET: set"]),
        (
            {"SHOP_OAUTH_CLIENT_ID": "x", "SHOP_OAUTH_CLIENT_SECRET": "y"},
            {"introspection": True},
            [],
        ),
    ],
)
def test_oauth_issuer_is_read_from_environment_and_problems_are_listed(
    environment_changes: dict[str, str], oauth: dict[str, Any], problems: list[str]
) -> None:
    issuer, found = Issuer.from_environment(
        OAuth("SHOP", (), **oauth), {**ISSUER_ENVIRONMENT, **environment_changes}
    )
    assert len(found) == len(problems)
    for problem, expected in zip(found, problems, strict=True):
        assert expected in problem
    if not problems:
        assert issuer.issuer == "https://login.example"
        assert issuer.public_url == "https://shop.example:1"
        assert issuer.hosts == ("shop.example:1",)
        assert repr(issuer) == "Issuer('https://login.example')"
        assert (issuer.credentials is None) is not oauth.get("introspection", False)


def test_oauth_issuer_without_environment_variables_is_empty() -> None:
    issuer, _ = Issuer.from_environment(OAuth("SHOP", ()), {})
    assert (issuer.issuer, issuer.public_url, issuer.hosts) == ("", "", ())


def test_oauth_scope_grants_access_to_its_client_endpoints() -> None:
    """Endpoints without a client accept any scope."""
    oauth = OAuth("SHOP", (Scope("x"), Scope("y", ("a",))))
    issuer, _ = Issuer.from_environment(oauth, ISSUER_ENVIRONMENT)
    assert issuer.has_scope_for(None) and issuer.has_scope_for("a")
    assert not issuer.has_scope_for("b")


def test_startup_log_lists_each_endpoint_with_its_token_variable(
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

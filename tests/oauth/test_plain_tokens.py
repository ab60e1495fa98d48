"""Plain bearer tokens from variables and files, and the URLs that are safe to fetch."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from toolcast_runtime.http import Endpoint, HttpSettings, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings, Tokens, is_safe_url


def test_environment_variable_may_contain_several_bearer_tokens() -> None:
    """Whitespace separates the tokens."""
    tokens = Tokens.from_environment("T", {"T": " old\nnew "})
    assert tokens is not None
    assert [tokens.contains(t) for t in ("old", "new", "", "old new")] == [
        True,
        True,
        False,
        False,
    ]


def test_changed_bearer_token_file_is_read_without_a_restart(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing file accepts no token."""
    caplog.set_level(logging.INFO)
    path = tmp_path / "token"
    path.write_text("old\n")
    tokens = Tokens.from_environment("T", {"T_FILE": str(path)})
    assert tokens is not None and tokens.contains("old")
    path.write_text("old new\n")
    assert tokens.contains("old") and tokens.contains("new")
    # Kubernetes replaces the file instead of writing to it.
    other = tmp_path / "other"
    other.write_text("new\n")
    other.replace(path)
    assert not tokens.contains("old") and tokens.contains("new")
    path.unlink()
    assert not tokens.contains("new") and not tokens.contains("")
    path.write_text("new\n")
    assert tokens.contains("new")
    reloaded, missing = "reloaded the tokens of T", "cannot read the file in T_FILE"
    assert caplog.messages == [reloaded, reloaded, missing]


@pytest.mark.parametrize(
    ("environment", "problem"),
    [
        ({"D": "a", "D_FILE": "x"}, "set D or D_FILE, not both"),
        ({"D_FILE": "/nowhere/at/all"}, "cannot be read or has no token"),
        ({"D": "a b", "A": "c b"}, "D and A contain the same token"),
    ],
)
def test_conflicting_unreadable_or_duplicate_bearer_token_settings_are_refused(
    environment: dict[str, str], problem: str
) -> None:
    settings = HttpSettings((Endpoint("/mcp/", None, "D"),), "A", "H")
    with pytest.raises(SettingsError, match=problem):
        ListenSettings.from_environment(settings, "127.0.0.1", environment)


@pytest.mark.parametrize(
    ("url", "is_safe"),
    [
        ("https://login.example.com/realms/a", True),
        ("http://localhost:8080/", True),
        ("http://127.0.0.7", True),
        ("http://[::1]:8080", True),
        ("http://login.example.com", False),
        ("ftp://127.0.0.1", False),
        ("https://[login", False),
        ("https://login.example.com:port", False),
        ("https://login.example.com:0", False),
        ("https://:443/", False),
        ("https://me@login.example.com", False),
        ("https://login.example.com/?a=b", False),
        ("https://login.example.com/#a", False),
        ("https://login.example.com/a b", False),
        ("https://l\u00f6gin.example.com", False),
    ],
)
def test_is_safe_url_accepts_only_https_and_loopback_urls_without_credentials(
    url: str, is_safe: bool
) -> None:
    assert is_safe_url(url) is is_safe

"""Plain tokens change without a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcast_runtime.http import Endpoint, HttpSettings, SettingsError
from toolcast_runtime.http.endpoints import ListenSettings, Tokens, is_safe_url


def test_a_variable_holds_the_old_and_the_new_token() -> None:
    tokens = Tokens.from_environment("T", {"T": " old\nnew "})
    assert tokens is not None
    assert [tokens.contains(t) for t in ("old", "new", "", "old new")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("old\n")
    tokens = Tokens.from_environment("T", {"T_FILE": str(path)})
    assert tokens is not None and tokens.contains("old")
    path.write_text("old new\n")
    assert tokens.contains("old") and tokens.contains("new")
    # As Kubernetes and careful people do it: another file takes its place.
    other = tmp_path / "other"
    other.write_text("new\n")
    other.replace(path)
    assert not tokens.contains("old") and tokens.contains("new")
    path.unlink()
    assert not tokens.contains("new") and not tokens.contains("")
    path.write_text("new\n")
    assert tokens.contains("new")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"D": "a", "D_FILE": "x"}, "set D or D_FILE, not both"),
        ({"D_FILE": "/nowhere/at/all"}, "cannot be read or has no token"),
        ({"D": "a b", "A": "c b"}, "D and A contain the same token"),
    ],
)
def test_what_cannot_be_meant_does_not_start(
    given: dict[str, str], problem: str
) -> None:
    settings = HttpSettings((Endpoint("/mcp/", None, "D"),), "A", "H")
    with pytest.raises(SettingsError, match=problem):
        ListenSettings.from_environment(settings, "127.0.0.1", given)


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
def test_what_comes_from_an_address_cannot_be_changed_on_its_way(
    url: str, is_safe: bool
) -> None:
    assert is_safe_url(url) is is_safe

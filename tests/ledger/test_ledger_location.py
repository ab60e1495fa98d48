"""The location of records: environment, toolset, or the user's state folder."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from toolcast_runtime.core.toolset_settings import LedgerSettings, LinkLimits

SETTINGS = LedgerSettings("toy", "TOY_LEDGER", package="/srv/toy")


def test_ledger_environment_variable_overrides_the_configured_file() -> None:
    environment, blank = {"TOY_LEDGER": "/x/a"}, {"TOY_LEDGER": " "}
    assert SETTINGS.get_file(environment) == Path("/x/a").absolute()
    assert SETTINGS.is_configured(environment) and not SETTINGS.is_configured({})
    settings = LedgerSettings("toy", "TOY_LEDGER", "/y/b")
    assert settings.get_file(environment) == Path("/x/a").absolute()
    assert settings.get_file(blank) == settings.get_file({}) == Path("/y/b").absolute()
    assert settings.is_configured(blank) and settings.is_configured({})


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other folders")
def test_default_ledger_file_is_in_the_package_xdg_state_folder() -> None:
    whose = hashlib.sha256(b"/srv/toy").hexdigest()[:12]
    below = f"toolcast/toy-{whose}/ledger.sqlite3"
    own = SETTINGS.get_file({"XDG_STATE_HOME": "/state"})
    assert own == Path("/state", below)
    # The XDG Base Directory Specification requires that relative paths are ignored.
    for home in ("state", "", "./x"):
        own = SETTINGS.get_file({"XDG_STATE_HOME": home})
        assert own == Path.home() / ".local/state" / below


def test_get_database_url_returns_postgresql_urls_from_the_ledger_variable() -> None:
    for path in ("", "/x/a", "toys:1.db", "C:/x", "C:\\x"):
        assert SETTINGS.get_database_url({"TOY_LEDGER": path}) is None
    for url in ("postgresql://x/y", "Postgres://x/y"):
        assert SETTINGS.get_database_url({"TOY_LEDGER": url}) == url


def test_ledger_settings_package_is_the_generated_packages_absolute_path(
    tmp_path: Path,
) -> None:
    """It is empty for a package without a folder."""
    tools = ModuleType("toy.tools")
    tools.__path__ = [str(tmp_path / "toy" / "tools"), "/elsewhere"]
    assert SETTINGS.for_package(tools).package == str((tmp_path / "toy").resolve())
    tools.__path__ = []
    assert SETTINGS.for_package(tools).package == ""


def test_resource_link_limits_default_to_10_minutes_and_16_mebibytes() -> None:
    assert (LinkLimits().seconds, LinkLimits().bytes) == (600.0, 16 * 1024 * 1024)

"""The location of records: environment, toolset, or the user's state folder."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from toolcast_runtime.core.toolset_settings import LedgerSettings, LinkLimits

SETTINGS = LedgerSettings("toy", "TOY_LEDGER", package="/srv/toy")


@pytest.mark.parametrize(
    ("named", "path", "file"),
    [("/x/a", None, "/x/a"), ("/x/a", "/y/b", "/x/a"), (" ", "/y/b", "/y/b")],
)
def test_ledger_environment_variable_overrides_the_configured_file(
    named: str, path: str | None, file: str
) -> None:
    settings = LedgerSettings("toy", "TOY_LEDGER", path)
    assert settings.get_file({"TOY_LEDGER": named}) == Path(file).absolute()
    assert settings.is_configured({"TOY_LEDGER": named})
    assert settings.is_configured({}) is (path is not None)
    assert path is None or settings.get_file({}) == Path(path)


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


@pytest.mark.parametrize(
    ("named", "database"),
    [
        ("", None),
        ("/x/a", None),
        ("toys:1.db", None),
        ("C:/x", None),
        ("C:\\x", None),
        ("postgresql://x/y", "postgresql://x/y"),
        ("Postgres://x/y", "Postgres://x/y"),
    ],
)
def test_get_database_url_returns_postgresql_urls_from_the_ledger_variable(
    named: str, database: str | None
) -> None:
    assert SETTINGS.get_database_url({"TOY_LEDGER": named}) == database


def test_ledger_settings_identify_a_package_by_its_folder(tmp_path: Path) -> None:
    tools = ModuleType("toy.tools")
    tools.__path__ = [str(tmp_path / "toy" / "tools"), "/elsewhere"]
    assert SETTINGS.for_package(tools).package == str((tmp_path / "toy").resolve())
    tools.__path__ = []
    assert SETTINGS.for_package(tools).package == ""


def test_resource_link_limits_default_to_10_minutes_and_16_mebibytes() -> None:
    assert (LinkLimits().seconds, LinkLimits().bytes) == (600.0, 16 * 1024 * 1024)

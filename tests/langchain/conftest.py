"""The wrappers of every toolset, with nothing of this machine within their reach."""

from __future__ import annotations

from pathlib import Path

import pytest

NOBODY = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def isolated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Data goes below tmp_path, and every service is a closed port."""
    for variable in ("KIRISHIMA_DATA", "MOLECULE_HOME", "HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    for variable in ("GITHUB_API_URL", "HOME_ASSISTANT_URL", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, NOBODY)
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/something")
    for variable in ("GITHUB_TOKEN", "HOME_ASSISTANT_TOKEN", "DISPLAY"):
        monkeypatch.delenv(variable, raising=False)

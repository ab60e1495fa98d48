"""An environment for LangChain tools without access to data and services of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

CLOSED_PORT_URL = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def isolate_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point data folders into `tmp_path` and service URLs to a closed port."""
    for variable in ("KIRISHIMA_DATA", "MOLECULE_HOME", "HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    for variable in ("GITHUB_API_URL", "HOME_ASSISTANT_URL", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, CLOSED_PORT_URL)
    monkeypatch.setenv("GITHUB_REPOSITORY", "owner/repository")
    for variable in ("GITHUB_TOKEN", "HOME_ASSISTANT_TOKEN", "DISPLAY"):
        monkeypatch.delenv(variable, raising=False)

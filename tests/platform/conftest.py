"""Fixtures for the clinic of `project/`, on SQLite and PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.platform.clinic_runs import Clinic
from tests.postgres import PostgresUnavailableError, postgres_server

# The project's generated tests run in a separate process.
collect_ignore = ["project"]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL server; yield the URL of its database."""
    try:
        with postgres_server("clinic") as urls:
            yield urls["clinic"]
    except PostgresUnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def clinic(
    request: pytest.FixtureRequest,
    clinic_project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Clinic]:
    """Set up the clinic with an empty database, also for child processes."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'clinic.sqlite3'}"
    else:
        url = request.getfixturevalue("postgresql")
    made = Clinic(clinic_project, tmp_path, url)
    made.make_tables()
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(made.project))
    yield made
    # The next test has other settings, which the modules read on import.
    own = ("clinic_tools", "clinic_app")
    for name in [name for name in sys.modules if name.startswith(own)]:
        del sys.modules[name]


@pytest.fixture
def reception(clinic: Clinic) -> object:
    """Return the registry of the toolset `reception` in this process."""
    return import_module("clinic_tools.reception.registry").REGISTRY


@pytest.fixture
def records(clinic: Clinic) -> object:
    """Return the registry of the toolset `records` in this process."""
    return import_module("clinic_tools.records.registry").REGISTRY

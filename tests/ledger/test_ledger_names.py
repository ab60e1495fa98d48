"""The ledger's environment variables: a file, a database, or an error."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

from toolcast_runtime.ledger import LedgerError, LedgerSettings, Record
from toolcast_runtime.ledger.recorder import open_ledger
from toolcast_runtime.ledger.tables import ApprovalsTable

SETTINGS = LedgerSettings("toys", "TOYS_LEDGER")
STARTED = Record("1", "toys", "spin", None, "2026-01-01", {})
URL = "postgresql://toys:hunter2@db.example/toys"


def test_ledger_database_url_is_read_from_a_secret_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    environment = {"TOYS_LEDGER_FILE": str(secret)}
    secret.write_text(f"{URL}\n")
    assert SETTINGS.get_database_url(environment) == URL
    secret.write_text(URL.replace("hunter2", "new"))
    assert SETTINGS.get_database_url(environment) == URL.replace("hunter2", "new")
    with pytest.raises(LedgerError, match="TOYS_LEDGER or TOYS_LEDGER_FILE, not both"):
        SETTINGS.get_database_url({**environment, "TOYS_LEDGER": "/srv/toys"})
    secret.write_text("/srv/toys.sqlite3")
    with pytest.raises(LedgerError, match="must contain the URL of a database"):
        SETTINGS.get_database_url(environment)
    secret.unlink()
    with pytest.raises(LedgerError, match="_FILE names is empty or cannot be read"):
        SETTINGS.get_database_url(environment)


# The password of each URL contains `hunter2`.
WRONG = [
    "MySQL://toys:hunter2@db/toys",
    "postgresql+psycopg://toys:hunter2@db/toys",
    "sqlite:///hunter2",
    "file:/hunter2",
]
AMBIGUOUS = [
    "postgresql://toys:@hunter2@localhost/toys",
    "postgresql://toys:p@hunter2/x@localhost/toys",
    "postgresql://toys:p/hunter2@localhost/toys",
    "postgresql://toys:hunter2/toys",
    "postgresql://toys:hunter2%zz@localhost/toys",
    "postgresql://toys@localhost/toys?pasword=hunter2",
    "postgresql://toys@localhost/toys?password=%hunter2",
    "postgresql://[hunter2/toys",
    "postgresql://toys:5432,hunter2/toys",
]
UNREACHABLE = [
    "postgresql://toys:hunter2@127.0.0.1:1/toys",
    "postgresql://toys:hunter2?#[%0a@127.0.0.1:1/toys",
    "postgresql://toys:%40%2Fhunter2@127.0.0.1:1/toys",
    "postgresql://toys@127.0.0.1:1/toys?password=hunter2",
]


@pytest.mark.parametrize("url", [*WRONG, *AMBIGUOUS, *UNREACHABLE])
async def test_ledger_logs_and_errors_contain_no_database_password(
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOYS_LEDGER", url)
    caplog.set_level(logging.DEBUG)
    lines: list[str] = []
    with pytest.raises(LedgerError) as failed:
        await open_ledger(SETTINGS).write(STARTED)
    lines += traceback.format_exception(failed.value)
    with pytest.raises(OSError, match="the ledger cannot be written") as refused:
        await ApprovalsTable(SETTINGS).claim_round("round")
    lines += traceback.format_exception(refused.value)
    text = "".join(lines) + caplog.text
    assert "hunter2" not in text
    if url in WRONG:
        scheme = url.partition(":")[0].lower()
        assert f"begins with postgresql://, not with {scheme}:" in text
    elif url in AMBIGUOUS:
        assert "postgresql://USER:PASSWORD@HOST:PORT/DATABASE" in text
    else:
        assert "port 1 failed" in text
    assert list(tmp_path.iterdir()) == []

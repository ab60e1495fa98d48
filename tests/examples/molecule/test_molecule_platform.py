"""Starting, stopping and registering workspaces, and the store that they share."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from examples.molecule import (
    a2a,
    config,
    delegation,
    peer_tasks,
    platform,
    registry,
    store,
    workspace,
)
from examples.molecule.platform import Platform


def _is_running(workspace_id: str) -> bool:
    found = registry.find(workspace_id)
    assert found is not None
    return asyncio.run(a2a.is_running(found))


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"examples.molecule.{module}", *arguments],
        cwd=config.get_project_root(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.slow
def test_a_workspace_of_one_s_own_joins_the_platform() -> None:
    options = ["--name", "Extra", "--organisation", "northwind"]
    options += ["--parent", "ws-director", "--skill", "uppercase"]
    with Platform({"ws-extra": options}):
        assert _is_running("ws-extra")
        result = asyncio.run(
            delegation.delegate_task(workspace_id="ws-extra", task="uppercase: hey")
        )
        assert result["answer"] == "HEY"
        again = _run("workspace", "--id", "ws-extra")
        assert again.returncode == 2
        assert "already runs at" in again.stderr
    assert not _is_running("ws-extra")
    stopped = registry.find("ws-extra")
    assert stopped is not None
    assert stopped.url is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--id", "ws-new"], "say its name and organisation"),
        (["--id", "../up"], "not made of"),
        (["--id", "ws-director", "--parent", "ws-gone"], "FOREIGN KEY"),
    ],
)
def test_what_cannot_be_registered_is_not_served(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workspace.main(arguments) == 2
    assert reason in capsys.readouterr().err


def test_a_workspace_that_cannot_start_is_said_to_have_ended() -> None:
    with (
        pytest.raises(RuntimeError, match=r"ws-new ended at once; see .*ws-new\.log"),
        Platform({"ws-new": []}),
    ):
        pytest.fail("it has not started")


def test_the_command_stops_what_runs_and_is_the_user_s_side(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Platform({"ws-research": []}):
        assert platform.main(["status"]) == 0
        assert "ws-research    http://127.0.0.1:" in capsys.readouterr().out
        assert platform.main(["stop"]) == 0
        assert capsys.readouterr().out == "ws-research stops\n"
    assert platform.main(["say", "ws-director", "hello", "there"]) == 0
    assert platform.main(["chat"]) == 0
    assert "ws-director user: hello there" in capsys.readouterr().out
    assert platform.main(["decide", "req-1", "approved"]) == 1
    assert "no request req-1 waits" in capsys.readouterr().err


def test_a_task_on_which_nobody_works_any_more_has_failed() -> None:
    writing, director = registry.find("ws-writing"), registry.find("ws-director")
    assert writing is not None
    assert director is not None
    task_id = peer_tasks.start(writing, director, "context-1", "echo: x")
    peer_tasks.fail_unfinished("ws-research")
    task = peer_tasks.find(writing, director, task_id)
    assert task is not None
    assert task["status"]["state"] == "working"
    peer_tasks.fail_unfinished("ws-writing")
    task = peer_tasks.find(writing, director, task_id)
    assert task is not None
    assert task["status"]["state"] == "failed"
    assert a2a.extract_text(task) == "The workspace stopped before it had finished."


def test_many_can_create_and_write_the_store_at_once() -> None:
    def write(number: int) -> None:
        registry.set_url("ws-research", f"http://127.0.0.1:{number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert len(registry.list_workspaces()) == 5
    left = sorted(file.name for file in config.get_home().iterdir())
    assert left[0] == "molecule.db"
    assert not [name for name in left if name.startswith("new-")]


def test_a_failed_transaction_changes_nothing() -> None:
    def fail() -> None:
        with store.write_transaction() as db:
            db.execute("UPDATE workspaces SET url = 'x'")
            db.execute("INSERT INTO goals VALUES ('ws-gone', 'g', NULL, 't')")

    with pytest.raises(sqlite3.IntegrityError):
        fail()
    assert [one.url for one in registry.list_workspaces()] == [None] * 5


def test_a_store_of_another_format_is_refused() -> None:
    with store.write_transaction() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(RuntimeError, match="has format 99"):
        registry.list_workspaces()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_state_is_private_to_the_user(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.list_workspaces()
    assert home.stat().st_mode & 0o077 == 0
    assert config.get_database_path().stat().st_mode & 0o077 == 0
    monkeypatch.delenv("MOLECULE_HOME")
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    folder = config.get_home()
    assert folder.parent == home
    folder.chmod(0o755)
    with pytest.raises(RuntimeError, match="is not private"):
        config.get_home()

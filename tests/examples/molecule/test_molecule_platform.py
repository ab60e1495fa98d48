"""Processes of molecule: start, stop and registration of workspaces; the shared database."""

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


def is_running(workspace_id: str) -> bool:
    workspace_row = registry.find(workspace_id)
    assert workspace_row is not None
    return asyncio.run(a2a.is_running(workspace_row))


def run_module(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"examples.molecule.{module}", *arguments],
        cwd=config.get_project_root(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.slow
def test_started_workspace_process_is_registered_and_receives_tasks_until_it_stops() -> (
    None
):
    options = ["--name", "Extra", "--organisation", "northwind"]
    options += ["--parent", "ws-director", "--skill", "uppercase"]
    with Platform({"ws-extra": options}):
        assert is_running("ws-extra")
        result = asyncio.run(
            delegation.delegate_task(workspace_id="ws-extra", task="uppercase: hey")
        )
        assert result["answer"] == "HEY"
        second = run_module("workspace", "--id", "ws-extra")
        assert second.returncode == 2
        assert "already runs at" in second.stderr
    assert not is_running("ws-extra")
    stopped = registry.find("ws-extra")
    assert stopped is not None and stopped.url is None


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--id", "ws-new"], "pass --name and --organisation"),
        (["--id", "../up"], "not made of"),
        (["--id", "ws-director", "--parent", "ws-gone"], "FOREIGN KEY"),
    ],
)
def test_workspace_command_with_invalid_arguments_exits_with_2_and_prints_the_reason(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert workspace.main(arguments) == 2
    assert reason in capsys.readouterr().err


def test_failed_workspace_process_start_raises_an_error_with_the_log_path() -> None:
    with (
        pytest.raises(RuntimeError, match=r"ws-new exited; see .*ws-new\.log"),
        Platform({"ws-new": []}),
    ):
        pytest.fail("the workspace started")


def test_platform_command_shows_and_stops_workspaces_and_sends_messages_as_the_user(
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
    assert "request req-1 is not pending" in capsys.readouterr().err


def test_unfinished_a2a_task_fails_when_its_workspace_has_stopped() -> None:
    writing, director = registry.find("ws-writing"), registry.find("ws-director")
    assert writing is not None and director is not None
    task_id = peer_tasks.start(writing, director, "context-1", "echo: x")
    peer_tasks.fail_unfinished("ws-research")
    task = peer_tasks.find(writing, director, task_id)
    assert task is not None and task["status"]["state"] == "working"
    peer_tasks.fail_unfinished("ws-writing")
    task = peer_tasks.find(writing, director, task_id)
    assert task is not None and task["status"]["state"] == "failed"
    assert a2a.extract_text(task) == "The workspace stopped before it had finished."


def test_concurrent_first_writes_create_one_molecule_database() -> None:
    def write(number: int) -> None:
        registry.set_url("ws-research", f"http://127.0.0.1:{number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert len(registry.list_workspaces()) == 5
    names = sorted(file.name for file in config.get_home().iterdir())
    assert names[0] == "molecule.db"
    assert not [name for name in names if name.startswith("new-")]


def test_failed_molecule_database_write_transaction_is_rolled_back() -> None:
    def fail() -> None:
        with store.write_transaction() as db:
            db.execute("UPDATE workspaces SET url = 'x'")
            db.execute("INSERT INTO goals VALUES ('ws-gone', 'g', NULL, 't')")

    with pytest.raises(sqlite3.IntegrityError):
        fail()
    assert [row.url for row in registry.list_workspaces()] == [None] * 5


def test_molecule_database_with_another_schema_version_raises_runtime_error() -> None:
    with store.write_transaction() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(RuntimeError, match="has format 99"):
        registry.list_workspaces()


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_molecule_state_folder_is_readable_only_by_its_user_or_refused(
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

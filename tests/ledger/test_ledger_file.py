"""The ledger's file: its location, owner, and files that are refused."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from tests.clone import plants
from tests.runtime.file_ledger import HANDLERS, FileLedger
from toolcast_runtime import CallContext
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.ledger import LedgerError, LedgerSettings

ROOT = Path(__file__).parents[2]


def make_package(folder: Path) -> types.ModuleType:
    module = types.ModuleType("generated.toys.tools")
    module.__path__ = [str(folder / "generated" / "toys" / "tools")]
    return module


async def call_echo(settings: LedgerSettings) -> bool:
    definition = {"name": "echo", "inputSchema": {"type": "object"}}
    tool = Tool("echo", "", "", definition, f"{HANDLERS}:echo", persistent=True)
    calls = ToolCalls(settings, "tests")
    response = await calls.call(tool, None, {}, CallContext("echo", "internal"))
    await calls.close()
    return response.success


async def test_ledger_file_at_its_default_path_is_logged_as_a_warning(
    tmp_path: Path,
    handlers: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    handlers.echo = lambda: "hello"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert await call_echo(
        LedgerSettings("toys", "TOYS_LEDGER", str(tmp_path / "named"))
    )
    assert not caplog.records
    settings = LedgerSettings("toys", "TOYS_LEDGER").for_package(make_package(tmp_path))
    assert await call_echo(settings)
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert str(settings.get_file()) in record.getMessage()
    assert "TOYS_LEDGER" in record.getMessage()


async def test_tool_call_is_refused_if_the_default_ledger_has_no_home_folder(
    handlers: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    settings = LedgerSettings("toys", "TOYS_LEDGER")
    with pytest.raises(LedgerError, match="set TOYS_LEDGER to a file"):
        settings.get_file()
    assert not await call_echo(settings)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


@pytest.mark.slow
def test_generated_toolset_tests_write_no_ledger(tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_LEDGER")}
    environment |= {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    arguments = "-m pytest -q -p no:cacheprovider -p no:xdist generated/kirishima -k"
    done = subprocess.run(
        [sys.executable, *arguments.split(), "not toolcast_check_passes"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "state").exists()
    assert not list(tmp_path.rglob("*ledger*"))


def foreign_file(path: Path, outside: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path.write_bytes(b"")
    os.chown(path, 4711, 4711)


LEDGER_PLANTS = (
    plants.link_to_missing_outside_file,
    plants.link_to_outside_file,
    plants.named_pipe,
    plants.link_to_itself,
    plants.empty_folder,
    plants.unix_socket,
    plants.link_to_dev_zero,
    foreign_file,
)


@pytest.mark.parametrize("plant", LEDGER_PLANTS)
@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_link_pipe_device_or_foreign_file_is_refused_as_ledger(
    tmp_path: Path,
    handlers: Any,
    caplog: pytest.LogCaptureFixture,
    plant: plants.Plant,
    ending: str,
) -> None:
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "bashrc").touch()  # An empty file is a valid SQLite database.
    plant(tmp_path / f"ledger.sqlite3{ending}", outside)
    file_ledger = FileLedger(tmp_path / "ledger.sqlite3")
    response = await file_ledger.call("work")
    await file_ledger.calls.close()
    assert "the ledger cannot be written" in (response.error or "")
    assert ran == []
    files = [(path.name, path.stat().st_size) for path in outside.iterdir()]
    assert files == [("bashrc", 0)]
    assert "ledger.sqlite3" in caplog.text


async def test_ledger_folder_is_not_created_through_a_dangling_link(
    tmp_path: Path, handlers: Any
) -> None:
    handlers.work = lambda: 1
    (tmp_path / "state").symlink_to(tmp_path / "victim")
    file_ledger = FileLedger(tmp_path / "state/ledger.sqlite3")
    assert not (await file_ledger.call("work")).success
    assert not (tmp_path / "victim").exists()


async def test_all_ledger_files_have_mode_600_and_their_folder_700(
    file_ledger: FileLedger, handlers: Any
) -> None:
    handlers.work = lambda: 1
    before = os.umask(0)
    try:
        assert (await file_ledger.call("work")).success
    finally:
        os.umask(before)
    folder = file_ledger.path.parent
    modes = [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()]
    assert set(modes) == {0o600} and len(modes) > 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await file_ledger.calls.close()


async def test_calls_refused_for_an_unusable_ledger_are_logged_at_most_twice(
    tmp_path: Path, handlers: Any, caplog: pytest.LogCaptureFixture
) -> None:
    handlers.echo = lambda: "hello"
    file_ledger = FileLedger(tmp_path)  # a folder
    for _ in range(20):
        assert not (await file_ledger.call("echo")).success
    assert len([r for r in caplog.records if "rejected " in r.getMessage()]) <= 2
    await file_ledger.calls.close()


@pytest.mark.parametrize("location", ["calls.sqlite3", "a/b.sqlite3", "./x", "../x"])
def test_ledger_error_names_a_removed_working_directory_as_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    settings = LedgerSettings("toys", "TOYS_LEDGER", location)
    with pytest.raises(LedgerError, match="directory was removed; set TOYS_LEDGER"):
        settings.get_file({})
    assert settings.get_file({"TOYS_LEDGER": "/srv/x"}) == Path("/srv/x")

"""The ledger's file: its location, owner, and files that are refused."""

from __future__ import annotations

import logging
import os
import socket
import stat
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime import CallContext
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.ledger import LedgerError, LedgerSettings

ROOT = Path(__file__).parents[2]


def make_package(folder: Path) -> types.ModuleType:
    module = types.ModuleType("generated.toys.tools")
    module.__path__ = [str(folder / "generated" / "toys" / "tools")]
    return module


def test_projects_with_the_same_name_have_separate_ledger_files(tmp_path: Path) -> None:
    state = {"XDG_STATE_HOME": str(tmp_path / "state")}
    settings = LedgerSettings("toys", "TOYS_LEDGER")
    first, second = (
        settings.for_package(make_package(tmp_path / name)).get_file(state)
        for name in ("first", "second")
    )
    assert first != second
    assert first.parent.parent == second.parent.parent == tmp_path / "state/toolcast"
    again = LedgerSettings("toys", "TOYS_LEDGER").for_package(
        make_package(tmp_path / "first")
    )
    assert again.get_file(state) == first


@pytest.mark.parametrize("home", ["state", "", "./x"])
def test_relative_path_in_xdg_state_home_is_ignored_for_the_ledger(
    tmp_path: Path, home: str
) -> None:
    """The XDG Base Directory Specification requires this."""
    file = LedgerSettings("toys", "TOYS_LEDGER").get_file({"XDG_STATE_HOME": home})
    assert file.is_relative_to(Path.home() / ".local/state")


def test_configured_ledger_file_is_used_and_environment_overrides_it(
    tmp_path: Path,
) -> None:
    settings = LedgerSettings("toys", "TOYS_LEDGER", str(tmp_path / "toys.sqlite3"))
    assert settings.get_file({}) == tmp_path / "toys.sqlite3"
    assert settings.get_file({"TOYS_LEDGER": "/srv/x"}) == Path("/srv/x")


async def call_echo(settings: LedgerSettings) -> bool:
    tool = Tool(
        "echo",
        "",
        "",
        {"name": "echo", "inputSchema": {"type": "object"}},
        handler="tests.runtime.ledger_handlers:echo",
        persistent=True,
    )
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
    arguments = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [
            sys.executable,
            *arguments,
            "generated/kirishima",
            "-k",
            "not toolcast_check_passes",
        ],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "state").exists()
    assert not list(tmp_path.rglob("*ledger*"))


def dangling_link(place: Path, victim: Path) -> None:
    place.symlink_to(victim)


def link(place: Path, victim: Path) -> None:
    victim.write_bytes(b"")
    place.symlink_to(victim)


def pipe(place: Path, victim: Path) -> None:
    os.mkfifo(place)


def loop(place: Path, victim: Path) -> None:
    place.symlink_to(place)


def folder(place: Path, victim: Path) -> None:
    place.mkdir()


def socket_file(place: Path, victim: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(place.parent)
        made.bind(place.name)


def endless_device(place: Path, victim: Path) -> None:
    place.symlink_to("/dev/zero")


def foreign_file(place: Path, victim: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    place.write_bytes(b"")
    os.chown(place, 4711, 4711)


PLANTS = [
    dangling_link,
    link,
    pipe,
    loop,
    folder,
    socket_file,
    endless_device,
    foreign_file,
]


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_link_pipe_device_or_foreign_file_is_refused_as_ledger(
    tmp_path: Path,
    handlers: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    plant: Callable[[Path, Path], None],
    ending: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran: list[int] = []
    handlers.work = lambda: ran.append(1)
    victim = tmp_path / "victim"
    plant(tmp_path / f"ledger.sqlite3{ending}", victim)
    before = victim.exists()
    file_ledger = FileLedger(tmp_path / "ledger.sqlite3")
    response = await file_ledger.call("work")
    await file_ledger.calls.close()
    assert "the ledger cannot be written" in (response.error or "")
    assert ran == []
    assert victim.exists() == before and not (before and victim.stat().st_size)
    assert "ledger.sqlite3" in caplog.text


async def test_ledger_folder_is_not_created_through_a_dangling_link(
    tmp_path: Path, handlers: Any
) -> None:
    handlers.work = lambda: 1
    (tmp_path / "state").symlink_to(tmp_path / "victim")
    assert not (
        await FileLedger(tmp_path / "state/ledger.sqlite3").call("work")
    ).success
    assert not (tmp_path / "victim").exists()


async def test_all_ledger_files_have_mode_600(
    file_ledger: FileLedger, handlers: Any
) -> None:
    handlers.work = lambda: 1
    before = os.umask(0)
    try:
        assert (await file_ledger.call("work")).success
    finally:
        os.umask(before)
    modes = {
        p.name: stat.S_IMODE(p.stat().st_mode)
        for p in file_ledger.path.parent.iterdir()
    }
    assert set(modes.values()) == {0o600} and len(modes) > 1
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
def test_ledger_error_says_that_the_working_directory_was_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, location: str
) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    settings = LedgerSettings("toys", "TOYS_LEDGER", location)
    with pytest.raises(
        LedgerError, match="the working directory was removed; set TOYS_LEDGER"
    ):
        settings.get_file({})
    assert settings.get_file({"TOYS_LEDGER": "/srv/x"}) == Path("/srv/x")

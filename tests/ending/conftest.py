"""A project with slow handlers that log when they start and how they end."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.forked_servers import Process
from tests.mcp.projects import generate_project
from tests.project_files import write_files, write_toolset
from tests.waiting import wait_until

TIMEOUT_S = 60.0
"""Deadline of every wait: only a process that never ends or never starts exceeds it."""

HANDLERS = """
import asyncio, atexit, os, stat, subprocess, threading, time
from multiprocessing import get_context
from toolcast_runtime import current_call

FILE = os.environ["ENDING_LOG"]
CHILD_SECONDS = 60

if "ENDING_IDLE_S" in os.environ:
    from toolcast_runtime.http import connections
    connections.IDLE_SHUTDOWN_S = float(os.environ["ENDING_IDLE_S"])

def log_event(name):
    with open(FILE, "a") as log:
        log.write(name + "\\n")

atexit.register(log_event, "atexit")

def quick():
    return "quick"

def sync_second():
    log_event("begun")
    time.sleep(0.5)
    return "finished"

async def async_second():
    log_event("begun")
    await asyncio.sleep(0.5)
    return "finished"

def sync_polite():
    call = current_call()
    log_event("begun")
    while not call.cancelled:
        time.sleep(0.01)
    log_event("cancelled")

def sync_endless():
    log_event("begun")
    threading.Event().wait()

async def async_endless():
    log_event("begun")
    try:
        await asyncio.sleep(3600)
    finally:
        log_event("cancelled")

def fork_raw():
    if child := os.fork():
        log_event(str(child))
        return "forked"
    time.sleep(CHILD_SECONDS)
    os._exit(0)

def fork_process():
    process = get_context("fork").Process(target=time.sleep, args=(CHILD_SECONDS,))
    process.start()
    log_event(str(process.pid))
    return "forked"

async def fork_async():
    return fork_raw()

def fork_in_thread():
    thread = threading.Thread(target=fork_raw)
    thread.start()
    thread.join()
    return "forked"

def fork_twice():
    if child := os.fork():
        os.waitpid(child, 0)
        return "forked"
    os.setsid()
    if child := os.fork():
        log_event(str(child))
        os._exit(0)
    time.sleep(CHILD_SECONDS)
    os._exit(0)

def fork_terminal():
    child, _ = os.forkpty()
    if child:
        log_event(str(child))
        return "forked"
    time.sleep(CHILD_SECONDS)
    os._exit(0)

def fork_and_execute():
    if child := os.fork():
        log_event(str(child))
        return "forked"
    os.execvp("sleep", ["sleep", str(CHILD_SECONDS)])

def fork_writer():
    if child := os.fork():
        log_event(str(child))
        return "forked"
    for number in range(3, 200):
        try:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                os.write(number, b"noise")
        except OSError:
            pass
    time.sleep(CHILD_SECONDS)
    os._exit(0)

def spawn_program():
    arguments = ["sleep", str(CHILD_SECONDS)]
    log_event(str(os.posix_spawnp("sleep", arguments, os.environ)))
    return "forked"

def open_program():
    program = subprocess.Popen(["sleep", str(CHILD_SECONDS)], close_fds=False)
    log_event(str(program.pid))
    return "forked"

def fork_pool():
    with get_context("fork").Pool(2) as pool:
        return str(pool.map(abs, [-1, -2]))

def terminate_child():
    process = get_context("fork").Process(target=time.sleep, args=(CHILD_SECONDS,))
    process.start()
    process.terminate()
    process.join()
    return str(process.exitcode)

async def stubborn():
    log_event("begun")
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            log_event("refused")
"""
TOOLS = (
    "quick",
    "sync_second",
    "async_second",
    "sync_polite",
    "sync_endless",
    "async_endless",
    "stubborn",
    "fork_raw",
    "fork_process",
    "fork_async",
    "fork_in_thread",
    "fork_twice",
    "fork_terminal",
    "fork_and_execute",
    "fork_writer",
    "spawn_program",
    "open_program",
    "fork_pool",
    "terminate_child",
)


@dataclass(frozen=True)
class SlowProject:
    """The generated project, with the event log and the ledger of one test."""

    root: Path
    log: Path
    ledger: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of its processes."""
        return {"ENDING_LOG": str(self.log), "SLOW_LEDGER": str(self.ledger)}

    @property
    def events(self) -> list[str]:
        """The events that handlers and `atexit` functions have logged."""
        return self.log.read_text().split() if self.log.exists() else []

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each recorded call by tool name."""
        with closing(sqlite3.connect(self.ledger)) as connection:
            return dict(connection.execute("SELECT tool, outcome FROM calls"))

    def wait_for_event(self, name: str) -> None:
        """Wait until an event is logged."""
        wait_until(lambda: name in self.events, lambda: self.events)


@pytest.fixture(scope="session")
def slow_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate the project that all tests share; return its root folder."""
    toolset = "name: slow\ntitle: Slow\nhandlers: slow\n"
    specs = {"toolset": f"{toolset}targets: {{mcp: {{}}, registry: {{}}, cli: {{}}}}\n"}
    for name in TOOLS:
        specs[name] = (
            f"name: {name}\nsummary: Waits.\nparameters: {{type: object}}\n"
            f"handler: slow:{name}\npersistent: true\ncli: {{keyword: {name.replace('_', '-')}}}\n"
        )
    root = write_toolset(tmp_path_factory.mktemp("slow"), "slow", specs)
    write_files(root, {"slow/__init__.py": HANDLERS})
    generate_project(root)
    return root


@pytest.fixture
def project(slow_root: Path, tmp_path: Path) -> SlowProject:
    """Return the generated project with its own event log and ledger."""
    return SlowProject(slow_root, tmp_path / "events.txt", tmp_path / "ledger.sqlite3")


def measure_exit(process: Process) -> tuple[int, float]:
    """Wait for a process to exit; return its exit code and the seconds until then."""
    start = time.monotonic()
    code = process.wait(TIMEOUT_S)
    return code, time.monotonic() - start

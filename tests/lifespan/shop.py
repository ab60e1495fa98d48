"""A project with rows in SQLite that logs the starts and ends of its lifespan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.forked_servers import run
from tests.mcp.projects import generate_project
from tests.project_files import write_files, write_toolset
from tests.waiting import wait_until

__all__ = ["Shop", "write_shop"]

_APP = """
from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict


class Dependencies(TypedDict):
    db: sqlite3.Connection


def log_event(name: str) -> None:
    with open(os.environ["SHOP_LOG"], "a") as log:
        log.write(name + "\\n")


@asynccontextmanager
async def lifespan() -> AsyncIterator[Dependencies]:
    log_event("starting")
    how = os.environ.get("SHOP_START")
    if how == "fail":
        raise ConnectionError("no database answers")
    try:
        await asyncio.sleep(60 if how == "hang" else 0.2)
    except asyncio.CancelledError:
        log_event("cancelled")
        raise
    db = sqlite3.connect(os.environ["SHOP_DB"], check_same_thread=False)
    db.execute("CREATE TABLE IF NOT EXISTS rows (text)")
    log_event("opened")
    try:
        yield {"db": db}
    finally:
        if "SHOP_THREADS" in os.environ:
            # What an end may have to do: `atexit` would be too late for it.
            await asyncio.to_thread(db.commit)
        db.close()
        log_event("closed")
"""
_TOOLS = """
from __future__ import annotations

import asyncio
import sqlite3

from .app import log_event


def add(text: str, *, db: sqlite3.Connection) -> int:
    db.execute("INSERT INTO rows VALUES (?)", (text,))
    return int(db.execute("SELECT count(*) FROM rows").fetchone()[0])


async def wait(seconds: float = 0.5, *, db: sqlite3.Connection) -> str:
    log_event("begun")
    await asyncio.sleep(seconds)
    db.execute("SELECT 1")
    return "finished"


def ping() -> str:
    return "pong"
"""
_SPECS = {
    "toolset": """
        name: shop
        title: Shop
        handlers: shop
        lifespan: shop.app:lifespan
        dependencies: {db: sqlite3:Connection}
        """,
    "add": """
        name: add
        summary: Adds a row.
        parameters: {type: object, properties: {text: {type: string}}, required: [text]}
        handler: shop.tools:add
        uses: [db]
        cli: {keyword: add, usage: "<text>"}
        """,
    "wait": """
        name: wait
        summary: Waits.
        parameters: {type: object, properties: {seconds: {type: number}}}
        handler: shop.tools:wait
        uses: [db]
        cli: {keyword: wait, usage: "[<seconds>]"}
        """,
    "ping": """
        name: ping
        summary: Answers.
        parameters: {type: object, properties: {}}
        handler: shop.tools:ping
        cli: {keyword: ping}
        """,
}


@dataclass(frozen=True)
class Shop:
    """The project, and the log of one test."""

    root: Path
    log: Path
    start: str = "ok"
    threads: bool = True

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its processes."""
        own = {"SHOP_LOG": str(self.log), "SHOP_START": self.start}
        own |= {"SHOP_THREADS": "1"} if self.threads else {}
        return {**os.environ, **own, "SHOP_DB": str(self.log.with_suffix(".sqlite3"))}

    @property
    def events(self) -> list[str]:
        """The logged starts and ends."""
        return self.log.read_text().split() if self.log.exists() else []

    def start_process(self, *args: str) -> subprocess.Popen[str]:
        """Start Python with these arguments in the project."""
        return subprocess.Popen(
            [sys.executable, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.root,
            env=self.environment,
            text=True,
        )

    def run(self, *args: str, input: str = "") -> tuple[int, str, str]:
        """Return exit code, output and errors of a process."""
        if args[0] == "-m":
            env = self.environment
            ran = run(self.root, *args[1:], env=env, input=input.encode())
            return ran.returncode, ran.stdout.decode(), ran.stderr.decode()
        with self.start_process(*args) as process:
            out, err = process.communicate(input, timeout=60)
            return process.returncode, out, err

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true."""
        wait_until(condition, lambda: self.events)


def write_shop(root: Path) -> None:
    """Write the project and generate its outputs."""
    write_toolset(root, "shop", _SPECS)
    modules = {"__init__.py": "", "app.py": _APP, "tools.py": _TOOLS}
    write_files(root / "shop", modules)
    generate_project(root)

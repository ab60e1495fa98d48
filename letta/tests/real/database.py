"""A temporary PostgreSQL database with pgvector."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import find_free_port

__all__ = ["LettaServerError", "start_database"]

_NOBODY_USER_ID = 65534


class LettaServerError(Exception):
    """Raised when a program fails; the message has the end of its output."""


@contextmanager
def start_database(packages: Path, folder: Path) -> Iterator[str]:
    """Start a new, empty database with the vector extension.

    Args:
        packages: the folder in which the package `pgserver` is installed.
        folder: an empty folder for the data.

    Yields:
        The URL `postgresql://...`, without a query.

    Raises:
        LettaServerError: a program of PostgreSQL fails.
    """
    account: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root, and other users cannot read root's folders.
        account = {
            "user": _NOBODY_USER_ID,
            "group": _NOBODY_USER_ID,
            "extra_groups": [],
        }
        for part in ("pgserver/pginstall", "pgserver.libs"):
            shutil.copytree(packages / part, folder / part, symlinks=True)
        packages = folder
        os.chown(folder, _NOBODY_USER_ID, _NOBODY_USER_ID)
    programs = packages / "pgserver" / "pginstall" / "bin"
    port, data = find_free_port(), folder / "data"
    connection_options = ["-h", "127.0.0.1", "-p", str(port), "-U", "letta"]

    def run(program: str, *args: str) -> None:
        process = subprocess.run(
            [str(programs / program), *args],
            # A pipe would be inherited by the server, so that reading it would never end.
            stdout=(folder / "output").open("wb"),
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            **account,
        )
        if process.returncode:
            output = (folder / "output").read_text(errors="replace")
            raise LettaServerError(
                f"{program} ended with {process.returncode}: {output[-2000:]}"
            )

    run("initdb", "-D", str(data), "-U", "letta", "--auth=trust", "-E", "UTF8")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
    log = str(folder / "log")
    run("pg_ctl", "-D", str(data), "-w", "-l", log, "-o", options, "start")
    try:
        run("createdb", *connection_options, "letta")
        run("psql", *connection_options, "-d", "letta", "-c", "create extension vector")
        yield f"postgresql://letta@127.0.0.1:{port}/letta"
    finally:
        run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")

"""A PostgreSQL with pgvector of one's own, in a folder that is thrown away."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["LettaServerError", "database", "free_port"]

_NOBODY = 65534


class LettaServerError(Exception):
    """A program did not do what it was started for; the text has the end of its output."""


def free_port() -> int:
    """A port of the loopback interface on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def database(packages: Path, folder: Path) -> Iterator[str]:
    """Runs a new, empty database with the vector extension.

    Args:
        packages: the folder in which the package `pgserver` is installed.
        folder: an empty folder for the data.

    Yields:
        `postgresql://...`, without a query.

    Raises:
        LettaServerError: when a program of PostgreSQL fails.
    """
    account: dict[str, Any] = {}
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root, and root's own folders are closed to others.
        account = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        for part in ("pgserver/pginstall", "pgserver.libs"):
            shutil.copytree(packages / part, folder / part, symlinks=True)
        packages = folder
        os.chown(folder, _NOBODY, _NOBODY)
    programs = packages / "pgserver" / "pginstall" / "bin"
    port, data = free_port(), folder / "data"
    place = ["-h", "127.0.0.1", "-p", str(port), "-U", "letta"]

    def run(program: str, *words: str) -> None:
        done = subprocess.run(
            [str(programs / program), *words],
            # Not a pipe: the server would inherit it, and its reader never see an end.
            stdout=(folder / "output").open("wb"),
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            **account,
        )
        if done.returncode:
            said = (folder / "output").read_text(errors="replace")
            raise LettaServerError(
                f"{program} ended with {done.returncode}: {said[-2000:]}"
            )

    run("initdb", "-D", str(data), "-U", "letta", "--auth=trust", "-E", "UTF8")
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
    log = str(folder / "log")
    run("pg_ctl", "-D", str(data), "-w", "-l", log, "-o", options, "start")
    try:
        run("createdb", *place, "letta")
        run("psql", *place, "-d", "letta", "-c", "create extension vector")
        yield f"postgresql://letta@127.0.0.1:{port}/letta"
    finally:
        run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")

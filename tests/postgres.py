"""A real PostgreSQL of one's own, in a folder that is thrown away."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["PostgresUnavailableError", "postgres_server"]

_NOBODY = 65534


class PostgresUnavailableError(Exception):
    """No PostgreSQL is asked for; the text says how to."""


def programs() -> Path:
    """The folder of PostgreSQL's programs.

    Raises:
        PostgresUnavailableError: TOOLCAST_TEST_POSTGRES does not ask for one. What is installed does not
            decide what is tried: a run takes as long everywhere.
        RuntimeError: there is none.
    """
    if not os.environ.get("TOOLCAST_TEST_POSTGRES"):
        raise PostgresUnavailableError("`make test-postgres` runs it on PostgreSQL")
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    # Debian keeps them out of the path.
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").is_file():
            return folder
    raise RuntimeError("PostgreSQL is not installed; `make test-postgres` installs it")


@contextmanager
def postgres_server(*databases: str) -> Iterator[dict[str, str]]:
    """Runs a new server with empty databases; gives the address of each by its name.

    Raises:
        PostgresUnavailableError: as `programs`.
        RuntimeError: as `programs`, or a program of PostgreSQL fails; with the end of its output.
    """
    account: dict[str, Any] = {}
    where = programs()
    with tempfile.TemporaryDirectory(prefix="toolcast-postgres-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            account = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            os.chown(folder, _NOBODY, _NOBODY)

        def run(program: str, *words: str) -> None:
            # Not a pipe: the server would inherit it, and its reader never see an end.
            with (folder / "output").open("wb") as output:
                done = subprocess.run(
                    [str(where / program), *words],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env={"PATH": os.defpath, "LC_ALL": "C"},
                    timeout=60,
                    **account,
                )
            if done.returncode:
                said = (folder / "output").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{program} ended with {done.returncode}: {said}")

        data, port = str(folder / "data"), _free_port()
        place = ["-h", "127.0.0.1", "-p", str(port), "-U", "ren"]
        run("initdb", "-D", data, "-U", "ren", "--auth=trust", "-E", "UTF8")
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        log = str(folder / "log")
        run("pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            for database in databases:
                run("createdb", *place, database)
            yield {
                database: f"postgresql://ren@127.0.0.1:{port}/{database}"
                for database in databases
            }
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port

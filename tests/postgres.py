"""A PostgreSQL server with its data in a temporary folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import reserve_port

__all__ = ["PostgresUnavailableError", "postgres_server"]

_NOBODY = 65534


class PostgresUnavailableError(Exception):
    """TOOLCAST_TEST_POSTGRES is not set."""


def find_programs() -> Path:
    """Return the folder of PostgreSQL's programs.

    Raises:
        PostgresUnavailableError: TOOLCAST_TEST_POSTGRES is not set. An installed PostgreSQL is not
            enough, so that a run takes equally long everywhere.
        RuntimeError: PostgreSQL is not installed.
    """
    if not os.environ.get("TOOLCAST_TEST_POSTGRES"):
        raise PostgresUnavailableError("`make test-postgres` runs it on PostgreSQL")
    initdb = shutil.which("initdb")
    folders = [Path(initdb).resolve().parent] if initdb else []
    # Debian does not add them to PATH.
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "initdb").is_file():
            return folder
    raise RuntimeError("PostgreSQL is not installed; `make test-postgres` installs it")


@contextmanager
def postgres_server(*databases: str) -> Iterator[dict[str, str]]:
    """Run a new server with empty databases; yield their URLs by name.

    Raises:
        PostgresUnavailableError: as for `find_programs`.
        RuntimeError: as for `find_programs`, or a program fails; with the end of its output.
    """
    account: dict[str, Any] = {}
    programs = find_programs()
    with (
        tempfile.TemporaryDirectory(prefix="toolcast-postgres-") as name,
        reserve_port() as port,
    ):
        folder = Path(name)
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            account = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            os.chown(folder, _NOBODY, _NOBODY)

        def run(program: str, *args: str) -> None:
            # The server would inherit a pipe and keep it open, and `run` would wait forever.
            with (folder / "output").open("wb") as output:
                done = subprocess.run(
                    [str(programs / program), *args],
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=folder,
                    env={"PATH": os.defpath, "LC_ALL": "C"},
                    timeout=60,
                    **account,
                )
            if done.returncode:
                text = (folder / "output").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"{program} exited with {done.returncode}: {text}")

        data = str(folder / "data")
        connection = ["-h", "127.0.0.1", "-p", str(port), "-U", "ren"]
        run("initdb", "-D", data, "-U", "ren", "--auth=trust", "-E", "UTF8")
        options = f"-h 127.0.0.1 -p {port} -k {folder} -c fsync=off"
        log = str(folder / "log")
        run("pg_ctl", "-D", data, "-w", "-l", log, "-o", options, "start")
        try:
            for database in databases:
                run("createdb", *connection, database)
            yield {
                database: f"postgresql://ren@127.0.0.1:{port}/{database}"
                for database in databases
            }
        finally:
            run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")

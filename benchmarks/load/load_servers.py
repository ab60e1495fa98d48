"""Servers of the mixed tools as processes, with their memory and their logs."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from clients import free_port, used
from generators import installed_python
from load_calls import TOKEN
from paired import PYTHON

__all__ = ["FASTMCP", "OURS", "PLAIN", "Running", "servers"]

OURS, PLAIN, FASTMCP = "Toolcast", "plain SDK", "FastMCP"
_FASTMCP = "fastmcp==4.1.2"
_HERE = Path(__file__).parent


@dataclass
class Running:
    """A server's process.

    Attributes:
        name: whose server it is.
        path: of its endpoint.
        port: where it listens.
        log: the file of what it says.
    """

    name: str
    path: str
    port: int
    log: Path
    _process: subprocess.Popen[bytes]

    def memory(self) -> float:
        """Resident mebibytes."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        return int(found[1]) / 1024 if found else 0.0

    def used(self) -> float:
        """Seconds of the processor that it has used."""
        return used(self._process.pid)

    def stay_on(self, cores: set[int]) -> None:
        """Keeps it, and threads that it starts from now on, on some cores."""
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)

    def said(self, word: str) -> list[str]:
        """The lines of the log with a word."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if word in line]

    def end(self) -> int:
        """Ends it as a service manager does, and waits; its exit code."""
        self._process.terminate()
        return self._process.wait(30)


def servers(
    folder: Path, python: Sequence[str] = (PYTHON,), with_fastmcp: bool = True
) -> list[Running]:
    """All three, or two, each over the same work; Toolcast's is generated first.

    `python` is the command of the interpreter that Toolcast's and the plain one run on.
    """
    shutil.copytree(_HERE / "toolcast", folder, dirs_exist_ok=True)
    shutil.copy(_HERE / "work.py", folder)
    words = [PYTHON, "-m", "toolcast", "generate"]
    subprocess.run(words, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    ours = [*python, "-m", "generated.mixed.mcp_server", "--http", "--port"]
    plain = [*python, str(_HERE / "plain_server.py")]
    started = [
        _started(OURS, ours, folder, "/mcp/"),
        _started(PLAIN, plain, folder, "/mcp"),
    ]
    if with_fastmcp:
        fast = str(installed_python(_FASTMCP) / "bin" / "python")
        words = [fast, str(_HERE / "fastmcp_server.py")]
        started.append(_started(FASTMCP, words, folder, "/mcp"))
    return started


def _started(name: str, command: Sequence[str], folder: Path, path: str) -> Running:
    port = free_port()
    log = folder / f"{name}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, str(port)],
            cwd=folder,
            env={**os.environ, "MIXED_TOKEN_AGENT": TOKEN},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            if process.poll() is not None:
                raise SystemExit(f"{name} ended:\n{log.read_text()}") from None
            time.sleep(0.05)
        else:
            return Running(name, path, port, log, process)

"""Server processes of the mixed tools, with their memory and logs."""

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

from clients import free_port, read_cpu_seconds
from generators import install_python
from load_calls import TOKEN
from paired import PYTHON

OURS, PLAIN, FASTMCP = "Toolcast", "plain SDK", "FastMCP"
_FASTMCP = "fastmcp==4.1.2"
_HERE = Path(__file__).parent


@dataclass
class ServerProcess:
    """A running server process.

    Attributes:
        name: name of the implementation.
        path: path of the MCP endpoint.
        port: port of the server.
        log: file with its output.
    """

    name: str
    path: str
    port: int
    log: Path
    _process: subprocess.Popen[bytes]

    def read_memory(self) -> float:
        """Return the resident memory in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        match = re.search(r"VmRSS:\s+(\d+)", status)
        return int(match[1]) / 1024 if match else 0.0

    def read_cpu_seconds(self) -> float:
        """Return the processor seconds of the server."""
        return read_cpu_seconds(self._process.pid)

    def pin_to(self, cores: set[int]) -> None:
        """Pin the process, and threads that it starts later, to some cores."""
        for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)

    def find_log_lines(self, text: str) -> list[str]:
        """Return the log lines that contain a text."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [line for line in lines if text in line]

    def stop(self) -> int:
        """Stop the server with SIGTERM and return its exit code."""
        self._process.terminate()
        return self._process.wait(30)


def start_servers(
    folder: Path, python: Sequence[str] = (PYTHON,), with_fastmcp: bool = True
) -> list[ServerProcess]:
    """Generate the Toolcast server, and start all servers with the same tools.

    `python` is the interpreter's command for the Toolcast server and the plain server.
    """
    shutil.copytree(_HERE / "toolcast", folder, dirs_exist_ok=True)
    shutil.copy(_HERE / "work.py", folder)
    argv = [PYTHON, "-m", "toolcast", "generate"]
    subprocess.run(argv, cwd=folder, check=True, stderr=subprocess.DEVNULL)
    ours = [*python, "-m", "generated.mixed.mcp_server", "--http", "--port"]
    plain = [*python, str(_HERE / "plain_server.py")]
    running = [
        _start_server(OURS, ours, folder, "/mcp/"),
        _start_server(PLAIN, plain, folder, "/mcp"),
    ]
    if with_fastmcp:
        fast = str(install_python(_FASTMCP) / "bin" / "python")
        argv = [fast, str(_HERE / "fastmcp_server.py")]
        running.append(_start_server(FASTMCP, argv, folder, "/mcp"))
    return running


def _start_server(
    name: str, command: Sequence[str], folder: Path, path: str
) -> ServerProcess:
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
            return ServerProcess(name, path, port, log, process)

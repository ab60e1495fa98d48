"""External servers over HTTP, as processes of their own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import reserve_port

__all__ = ["PersonalServer", "run_personal_server", "start_script"]

START_TIMEOUT_S = 60.0


class PersonalServer:
    """The server of `personal.py` over HTTP, which can be stopped and started again."""

    def __init__(self, port: int, args: tuple[str, ...]) -> None:
        scheme = "https" if "--certificate" in args else "http"
        self.url = f"{scheme}://127.0.0.1:{port}/mcp"
        self._port, self._args = port, args

    def start(self) -> None:
        args = ("--http", str(self._port), *self._args)
        self._process = start_script("personal.py", *args, port=self._port)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def run_personal_server(*args: str) -> Iterator[PersonalServer]:
    """Run the server of `personal.py` on a free port until the end of the block."""
    with reserve_port() as port:
        server = PersonalServer(port, args)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def start_script(script: str, *args: str, port: int) -> subprocess.Popen[bytes]:
    """Start a script of this folder, and wait until it listens on the port."""
    command = [sys.executable, str(Path(__file__).parent / script), *args]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_TIMEOUT_S
    while True:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)

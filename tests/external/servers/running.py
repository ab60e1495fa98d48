"""The useful server over HTTP, as a process of its own."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HttpServer"]


@dataclass
class HttpServer:
    """The useful server over HTTP; it can be ended and started again at its port."""

    port: int
    words: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @classmethod
    def started(cls, *words: str) -> HttpServer:
        """One at a free port."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        server = cls(port, words)
        server.start()
        return server

    def start(self) -> None:
        script = str(Path(__file__).parent / "personal.py")
        command = [sys.executable, script, "--http", str(self.port), *self.words]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                probe.settimeout(1)
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self.process.poll() is None and time.monotonic() < end
            time.sleep(0.05)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

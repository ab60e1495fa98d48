"""A server of two workers as a process, with its memory and its log."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

WORKERS = 2


@dataclass
class Running:
    """A server's processes."""

    process: subprocess.Popen[bytes]
    port: int
    log: list[bytes]

    def memory(self) -> float:
        """Resident mebibytes of the workers together."""
        workers = [line for line in self._children() if line]
        return sum(map(_resident, workers)) / 1024

    def _children(self) -> list[str]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return path.read_text().split()

    def end(self) -> None:
        """Ends it and waits for it."""
        self.process.terminate()
        self.process.wait()


def _resident(pid: str) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


def started(command: list[str], folder: Path, env: dict[str, str]) -> Running:
    """Starts a server and waits for its workers."""
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, env={**os.environ, **env}
    )
    assert process.stderr is not None
    log: list[bytes] = []
    port = 0
    ready = 0
    for line in process.stderr:
        log.append(line)
        found = re.search(rb"running on http://[^ ]*:(\d+)", line)
        port = int(found[1]) if found else port
        ready += b"startup complete" in line
        if ready == WORKERS:
            break
    assert ready == WORKERS, b"".join(log).decode()

    def keep() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            if b" INFO " not in line and b"INFO:" not in line:
                log.append(line)

    threading.Thread(target=keep, daemon=True).start()
    return Running(process, port, log)

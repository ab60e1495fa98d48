"""Servers that are forks of a process which has loaded the SDK of MCP.

A generated server is the same program in the same folder with the same streams, environment
and end, and a process of its own; what a fork saves is most of a second of imports. What a
program imports and how it starts is shown by tests that start it themselves.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol

__all__ = ["Process", "run", "start"]

_LOADED = ("mcp.server", "mcp.server.stdio", "uvicorn", "starlette.applications")
_PARENT = '''
import gc, importlib, json, os, runpy, socket, sys

def loaded(names, asked):
    """Gives what a fork has to be, in the fork; ends when nobody asks any more."""
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    forked = 0
    while True:
        message, files, _, _ = socket.recv_fds(asked, 1 << 20, 4)
        # Their time is this process's, and with it that of whoever started it.
        while forked and os.waitpid(-1, os.WNOHANG)[0]:
            forked -= 1
        if not message:
            os._exit(0)
        if not os.fork():
            return json.loads(message), files
        forked += 1
        for file in files:
            os.close(file)

def told_of(status):
    """Comes back in the process that is to be the server; tells what it ends with."""
    if not (server := os.fork()):
        os.close(status)
        return
    os.write(status, b"%d\\n" % server)
    for number in range(3):
        os.close(number)
    ended = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    try:
        os.write(status, b"%d\\n" % ended)
    except BrokenPipeError:
        pass
    os._exit(0)

def become(asked):
    """The folder, environment and arguments that Python would have started with."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.path[0] = asked["folder"]
    sys.argv = asked["words"]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = open(
        2, "w", 1, "utf-8", "backslashreplace", closefd=False
    )

asking = socket.socket(fileno=int(sys.argv[1]))
asked, files = loaded(sys.argv[2:], asking)
asking.close()
for number, file in enumerate(files[:3]):
    os.dup2(file, number)
    os.close(file)
told_of(files[3])
become(asked)
del asking, files, number, file
runpy.run_module(asked["words"][0], run_name="__main__", alter_sys=True)
'''


class Process(Protocol):
    """What tests do with a process that they started."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    @property
    def returncode(self) -> int | Any: ...
    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class _Fork:
    """A process that another one waits for, which says what it ended with."""

    def __init__(
        self, streams: list[IO[bytes] | None], status: IO[bytes], words: list[str]
    ) -> None:
        self.stdin, self.stdout, self.stderr = streams
        self.returncode: int | Any = None
        self._status = status
        self._words = words
        self.pid = int(status.readline())

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._take()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self._words, timeout or 0.0)
            self._take()
        assert self.returncode is not None
        return self.returncode

    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        said = [b"", b""]

        def keep(number: int, stream: IO[bytes]) -> None:
            with stream:
                said[number] = stream.read()

        readers = [
            threading.Thread(target=keep, args=(number, stream), daemon=True)
            for number, stream in enumerate((self.stdout, self.stderr))
            if stream is not None and not stream.closed
        ]
        for reader in readers:
            reader.start()
        if self.stdin is not None and not self.stdin.closed:
            with contextlib.suppress(BrokenPipeError), self.stdin:
                self.stdin.write(input or b"")
        self.wait(timeout)
        for reader in readers:
            reader.join()
        return said[0], said[1]

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            # It may have ended, and that not be told yet: so `subprocess.Popen` has it.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _take(self) -> None:
        with self._status:
            self.returncode = int(self._status.readline())


class _Parent:
    """The process that has loaded what servers need; it ends with this one."""

    def __init__(self, loaded: tuple[str, ...]) -> None:
        self._asking, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PARENT, str(number), *loaded],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                env=kept,
            )
        atexit.register(self._end)

    def fork(
        self,
        folder: Path,
        words: list[str],
        env: Mapping[str, str],
        kinds: tuple[int, int, int],
    ) -> _Fork:
        """Starts a module with its words; `kinds` are those of `subprocess.Popen`."""
        ours: list[IO[bytes] | None] = []
        theirs: list[int] = []
        for number, kind in enumerate(kinds):
            if kind != subprocess.PIPE:
                nothing = kind == subprocess.DEVNULL
                ours.append(None)
                theirs.append(
                    os.open(os.devnull, os.O_RDWR) if nothing else os.dup(kind)
                )
                continue
            read, write = os.pipe()
            mine, other = (read, write) if number else (write, read)
            ours.append(os.fdopen(mine, "rb" if number else "wb"))
            theirs.append(other)
        read, write = os.pipe()
        asked = {"folder": str(folder), "words": words, "env": dict(env)}
        message = json.dumps(asked).encode()
        try:
            socket.send_fds(self._asking, [message], [*theirs, write])
        finally:
            for file in (*theirs, write):
                os.close(file)
        return _Fork(ours, os.fdopen(read, "rb", 0), words)

    def _end(self) -> None:
        self._asking.close()
        self._process.wait()


_parents: dict[tuple[str, ...], _Parent] = {}


def start(
    folder: Path,
    *words: str,
    env: Mapping[str, str],
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    loaded: tuple[str, ...] = _LOADED,
) -> Process:
    """Starts `python -m WORDS` in a folder, with this environment alone.

    Each stream is `subprocess.PIPE`, `subprocess.DEVNULL` or an open file's number; `loaded`
    names modules that are imported already. Where Python itself reads the environment
    differently, or there are no sockets that keep messages apart, it is started.
    """
    ours = {
        name for name in {*env, *os.environ} if env.get(name) != os.environ.get(name)
    }
    if sys.platform != "linux" or any(name.startswith("PYTHON") for name in ours):
        return subprocess.Popen(
            [sys.executable, "-m", *words],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=env,
        )
    if loaded not in _parents:
        _parents[loaded] = _Parent(loaded)
    return _parents[loaded].fork(folder, list(words), env, (stdin, stdout, stderr))


def run(
    folder: Path, *words: str, env: Mapping[str, str], given: bytes, timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Starts `python -m WORDS` as `start` does, gives it its input, and waits for its end."""
    process = start(folder, *words, env=env)
    try:
        said = process.communicate(given, timeout)
    finally:
        process.kill()
    return subprocess.CompletedProcess(words, process.wait(), *said)

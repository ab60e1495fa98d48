"""Server processes as forks of a process that has imported the MCP SDK.

A fork runs a generated server with the same working directory, streams, environment and exit
code as a new interpreter, but saves most of a second of imports. Tests of imports and of
startup start a new interpreter instead.
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

def serve_forks(names, requests):
    """Fork for each request; return the request in the fork, exit at end of input."""
    for name in names:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    forked = 0
    while True:
        message, files, _, _ = socket.recv_fds(requests, 1 << 20, 4)
        # CPU time of ended forks counts for this process and its parent once they are reaped.
        while forked and os.waitpid(-1, os.WNOHANG)[0]:
            forked -= 1
        if not message:
            os._exit(0)
        if not os.fork():
            return json.loads(message), files
        forked += 1
        for file in files:
            os.close(file)

def fork_server(status):
    """Return in a child; write its process id and exit code to `status` in the parent."""
    if not (server := os.fork()):
        os.close(status)
        return
    os.write(status, b"%d\\n" % server)
    for number in range(3):
        os.close(number)
    code = os.waitstatus_to_exitcode(os.waitpid(server, 0)[1])
    try:
        os.write(status, b"%d\\n" % code)
    except BrokenPipeError:
        pass
    os._exit(0)

def set_process_state(request):
    """Set the working directory, environment, arguments and streams."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.path[0] = request["folder"]
    sys.argv = request["args"]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = open(
        2, "w", 1, "utf-8", "backslashreplace", closefd=False
    )

requests = socket.socket(fileno=int(sys.argv[1]))
request, files = serve_forks(sys.argv[2:], requests)
requests.close()
for number, file in enumerate(files[:3]):
    os.dup2(file, number)
    os.close(file)
fork_server(files[3])
set_process_state(request)
del requests, files, number, file
runpy.run_module(request["args"][0], run_name="__main__", alter_sys=True)
'''


class Process(Protocol):
    """The part of the `subprocess.Popen` interface that tests use."""

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
    """A forked process; its parent sends its exit code through a pipe."""

    def __init__(
        self, streams: list[IO[bytes] | None], status: IO[bytes], args: list[str]
    ) -> None:
        self.stdin, self.stdout, self.stderr = streams
        self.returncode: int | Any = None
        self._status = status
        self._args = args
        self.pid = int(status.readline())

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self._read_returncode()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self._args, timeout or 0.0)
            self._read_returncode()
        assert self.returncode is not None
        return self.returncode

    def communicate(
        self, input: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        output = [b"", b""]

        def read(number: int, stream: IO[bytes]) -> None:
            with stream:
                output[number] = stream.read()

        readers = [
            threading.Thread(target=read, args=(number, stream), daemon=True)
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
        return output[0], output[1]

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            # Like `subprocess.Popen`: it may have ended without having reported it yet.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _read_returncode(self) -> None:
        with self._status:
            self.returncode = int(self._status.readline())


class _Parent:
    """A process that has imported modules and forks servers; ends with this process."""

    def __init__(self, loaded: tuple[str, ...]) -> None:
        self._socket, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
        with remote:
            number = remote.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PARENT, str(number), *loaded],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                env=env,
            )
        atexit.register(self._end)

    def fork(
        self,
        folder: Path,
        args: list[str],
        env: Mapping[str, str],
        kinds: tuple[int, int, int],
    ) -> _Fork:
        """Start a module with arguments; `kinds` are the streams, as for `start`."""
        local: list[IO[bytes] | None] = []
        remote: list[int] = []
        for number, kind in enumerate(kinds):
            if kind != subprocess.PIPE:
                is_null = kind == subprocess.DEVNULL
                local.append(None)
                remote.append(
                    os.open(os.devnull, os.O_RDWR) if is_null else os.dup(kind)
                )
                continue
            read, write = os.pipe()
            local_end, remote_end = (read, write) if number else (write, read)
            local.append(os.fdopen(local_end, "rb" if number else "wb"))
            remote.append(remote_end)
        read, write = os.pipe()
        request = {"folder": str(folder), "args": args, "env": dict(env)}
        message = json.dumps(request).encode()
        try:
            socket.send_fds(self._socket, [message], [*remote, write])
        finally:
            for file in (*remote, write):
                os.close(file)
        return _Fork(local, os.fdopen(read, "rb", 0), args)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()


_parents: dict[tuple[str, ...], _Parent] = {}


def start(
    folder: Path,
    *args: str,
    env: Mapping[str, str],
    stdin: int = subprocess.PIPE,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    loaded: tuple[str, ...] = _LOADED,
) -> Process:
    """Start `python -m ARGS` in a folder, with exactly this environment.

    Each stream is `subprocess.PIPE`, `subprocess.DEVNULL` or a file descriptor; `loaded` are
    the modules to import before the fork. A new interpreter is started instead if a `PYTHON*`
    variable differs, or where SOCK_SEQPACKET may be missing (all but Linux).
    """
    changed = {
        name for name in {*env, *os.environ} if env.get(name) != os.environ.get(name)
    }
    if sys.platform != "linux" or any(name.startswith("PYTHON") for name in changed):
        return subprocess.Popen(
            [sys.executable, "-m", *args],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=folder,
            env=env,
        )
    if loaded not in _parents:
        _parents[loaded] = _Parent(loaded)
    return _parents[loaded].fork(folder, list(args), env, (stdin, stdout, stderr))


def run(
    folder: Path, *args: str, env: Mapping[str, str], input: bytes, timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m ARGS` as `start` does, with `input` as its stdin, to its end."""
    process = start(folder, *args, env=env)
    try:
        output = process.communicate(input, timeout)
    finally:
        process.kill()
    return subprocess.CompletedProcess(args, process.wait(), *output)

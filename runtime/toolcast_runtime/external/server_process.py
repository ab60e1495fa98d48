"""The process of a stdio server, started and ended with all that it starts itself.

As the specification says:
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
Needs no MCP SDK.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from asyncio.subprocess import SubprocessStreamProtocol
from contextlib import suppress
from subprocess import PIPE

from ..core.server_settings import ResolvedServer

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Size of a message from the server."""
READ_BYTES = 1 << 16

_GRACE = 1.0
# What the MCP SDK's client hands on, and nothing else of the environment.
_INHERITED = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE"
    " SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE"
    if sys.platform == "win32"
    else "HOME LOGNAME PATH SHELL TERM USER"
).split()


class ServerProcess:
    """A server's process, whose pipes can be closed while its children hold them."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: SubprocessStreamProtocol
    ) -> None:
        if not (protocol.stdin and protocol.stdout and protocol.stderr):
            raise RuntimeError("the server's process has not all of its pipes")
        self.stdin = protocol.stdin
        self.stdout = protocol.stdout
        self.stderr = protocol.stderr
        self.pid = transport.get_pid()
        self._transport = transport

    @property
    def returncode(self) -> int | None:
        """None while it runs."""
        return self._transport.get_returncode()

    def kill(self) -> None:
        """Kills the process alone."""
        self._transport.kill()

    def close(self) -> None:
        """Closes the pipes, and kills the process if it runs."""
        with suppress(PermissionError, ProcessLookupError):
            self._transport.close()


def _default_environment() -> dict[str, str]:
    there = {name: os.environ.get(name) for name in _INHERITED}
    # A value of this form is a function of a shell, which could run anything.
    return {n: v for n, v in there.items() if v is not None and not v.startswith("()")}


async def started(server: ResolvedServer) -> ServerProcess:
    """Starts a server's program with pipes, in a group of processes of its own.

    Raises:
        OSError: it cannot be started.
        ValueError: its name or an argument has a NUL in it.
    """
    loop = asyncio.get_running_loop()
    # What `asyncio.create_subprocess_exec` does, which keeps the transport for itself.
    transport, protocol = await loop.subprocess_exec(
        lambda: SubprocessStreamProtocol(limit=READ_BYTES, loop=loop),
        server.command or "",
        *server.args,
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env={
            **(os.environ if server.whole_environment else _default_environment()),
            **server.env,
        },
        cwd=server.cwd,
        start_new_session=sys.platform != "win32",
    )
    return ServerProcess(transport, protocol)


async def stop(process: ServerProcess, grace: float) -> None:
    """Closes its input, gives it a moment, and ends it with all that it started."""
    process.stdin.close()
    if not await _ended(process, grace):
        _signal(process, signal.SIGTERM)
        if not await _ended(process, _GRACE):
            kill(process)
            await _ended(process, _GRACE)
    # What it started itself may still be there.
    kill(process)
    process.close()


async def _ended(process: ServerProcess, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while process.returncode is None and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return process.returncode is not None


def kill(process: ServerProcess) -> None:
    """Kills it with what it started; nothing is left behind, were a wait cut short."""
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal(process: ServerProcess, number: int) -> None:
    """Signals the process's whole group; on Windows the process alone."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, number)

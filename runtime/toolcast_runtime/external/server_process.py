"""Process of a stdio server: started in its own process group, and stopped with the group.

The shutdown follows the specification:
https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#shutdown
This module does not import the MCP SDK.
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
"""Maximum size of one message from the server."""
READ_BYTES = 1 << 16
"""Maximum number of bytes of one read from a pipe."""

_SIGNAL_TIMEOUT_S = 1.0
"""How long a process may take to end after SIGTERM, and again after SIGKILL."""
# Names of the environment variables that a server inherits: those of the MCP SDK's own client.
_INHERITED = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE"
    " SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE"
    if sys.platform == "win32"
    else "HOME LOGNAME PATH SHELL TERM USER"
).split()


class ServerProcess:
    """Server's process; its pipes can be closed while child processes still use them."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, protocol: SubprocessStreamProtocol
    ) -> None:
        if not (protocol.stdin and protocol.stdout and protocol.stderr):
            raise RuntimeError("the server's process lacks stdin, stdout or stderr")
        self.stdin = protocol.stdin
        self.stdout = protocol.stdout
        self.stderr = protocol.stderr
        self.pid = transport.get_pid()
        self._transport = transport

    @property
    def returncode(self) -> int | None:
        """The exit code; None while the process runs."""
        return self._transport.get_returncode()

    def kill(self) -> None:
        """Kill the process, but not its children."""
        self._transport.kill()

    def close(self) -> None:
        """Close the pipes, and kill the process if it still runs."""
        with suppress(PermissionError, ProcessLookupError):
            self._transport.close()


def _default_environment() -> dict[str, str]:
    environment = {}
    for name in _INHERITED:
        value = os.environ.get(name)
        # Skip exported shell functions, whose values begin with "()": a shell could run them.
        if value is not None and not value.startswith("()"):
            environment[name] = value
    return environment


async def start(server: ResolvedServer) -> ServerProcess:
    """Start a server's program with pipes, in its own process group.

    Raises:
        OSError: the program cannot be started.
        ValueError: the program's name or an argument contains a NUL character.
    """
    loop = asyncio.get_running_loop()
    # The same as `asyncio.create_subprocess_exec`, which does not return the transport that
    # `ServerProcess` needs.
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
    """Close a process's stdin, and end it and its children if it does not end by itself.

    Args:
        process: the process to stop.
        grace: seconds to wait before SIGTERM.
    """
    process.stdin.close()
    if not await _wait_for_exit(process, grace):
        _send_signal(process, signal.SIGTERM)
        if not await _wait_for_exit(process, _SIGNAL_TIMEOUT_S):
            kill(process)
            await _wait_for_exit(process, _SIGNAL_TIMEOUT_S)
    # The process has ended, but its children may still run: kill the whole group.
    kill(process)
    process.close()


async def _wait_for_exit(process: ServerProcess, timeout: float) -> bool:
    end = time.monotonic() + timeout
    while process.returncode is None and time.monotonic() < end:
        await asyncio.sleep(0.01)
    return process.returncode is not None


def kill(process: ServerProcess) -> None:
    """Kill a process and its children, without waiting for them to end."""
    _send_signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def _send_signal(process: ServerProcess, number: int) -> None:
    """Send a signal to the process's group; on Windows only to the process."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, number)

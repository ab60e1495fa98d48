"""Blocking JSON-RPC clients for servers under measurement; no SDK on this side.

A client that shares the machine with its server must cost little: requests are bytes that
were made before, and answers are looked at only as far as is needed to know that they are
answers.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paired import Sample, child_environment

__all__ = [
    "LEGACY",
    "MODERN",
    "Http",
    "Stdio",
    "free_port",
    "rpc_message",
    "rpc_request",
    "used",
]

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
_CLIENT = {"name": "bench", "version": "1"}
_HELLO = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _bytes(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode()


def rpc_message(method: str, params: Mapping[str, Any], revision: str) -> bytes:
    """Return the bytes of a request, without the line end."""
    if revision == MODERN:
        params = {**params, "_meta": _META}
    return _bytes(7, method, params)


def rpc_request(
    port: int,
    path: str,
    method: str,
    params: Mapping[str, Any],
    revision: str,
    headers: str = "",
) -> bytes:
    """Return the bytes of a request over HTTP.

    Args:
        port: where the server listens.
        path: of its endpoint.
        method: of JSON-RPC.
        params: of the method.
        revision: of the protocol.
        headers: further ones, each with its end of line.
    """
    if revision == MODERN:
        name = f"Mcp-Name: {params['name']}\r\n" if "name" in params else ""
        headers += f"Mcp-Method: {method}\r\n{name}"
    body = rpc_message(method, params, revision)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Content-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {revision}\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def used(process: int) -> float:
    """Return the CPU seconds of a process and its children, in all threads."""
    # Linux counts nanoseconds here, where /proc counts hundredths of a second.
    # Source: https://www.man7.org/linux/man-pages/man3/clock_getcpuclockid.3.html
    own = time.clock_gettime((~process << 3) | 2)
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    return own + sum(used(int(child)) for child in children.split())


def _peak(process: int) -> float:
    """Return the peak memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


class Stdio:
    """A server over stdio, past its handshake and its first list.

    Attributes:
        start: from the start of the process to the answered `tools/list`.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        begun = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=child_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 1
        hello = _bytes(0, "initialize", _HELLO)
        self._send(
            hello + b'\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        )
        self._answer()
        self.list_tools()
        clock = time.perf_counter() - begun
        self.start = Sample(self.used(), clock, self.memory())

    def list_tools(self) -> float:
        """Return the seconds that `tools/list` takes."""
        begun = time.perf_counter()
        self._send(_bytes(1, "tools/list", {}) + b"\n")
        assert b'"tools":[' in self._answer()
        return time.perf_counter() - begun

    def calls(self, params: Mapping[str, Any], count: int) -> list[float]:
        """Return the seconds of each of `count` sequential calls."""
        line, seconds = _bytes(7, "tools/call", params) + b"\n", []
        for _ in range(count):
            begun = time.perf_counter()
            self._send(line)
            answer = self._answer()
            seconds.append(time.perf_counter() - begun)
            assert b'"content"' in answer and b'"isError":true' not in answer, answer
        return seconds

    def pipelined(self, params: Mapping[str, Any], count: int, window: int) -> float:
        """Return the seconds of a number of calls with a fixed concurrency."""
        line = _bytes(7, "tools/call", params) + b"\n"
        begun = time.perf_counter()
        self._send(line * window)
        for number in range(count):
            self._answer()
            if number + window < count:
                self._send(line)
        return time.perf_counter() - begun

    def used(self) -> float:
        """Return the CPU seconds that the server has used."""
        return used(self._process.pid)

    def memory(self) -> float:
        """Return the peak memory of the server in MiB."""
        return _peak(self._process.pid)

    def close(self) -> None:
        """Stop the server."""
        self._process.kill()
        self._process.communicate()

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), data)

    def _answer(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server ended"
        return line


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Http:
    """A server over HTTP and one connection to it, without a session.

    Args:
        command: what starts the server.
        folder: where it runs.
        port: where it will listen.
        revision: of the protocol that requests are in.
        path: of its endpoint.

    Attributes:
        start: from the start of the process to the answered `tools/list`.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        port: int,
        revision: str = MODERN,
        path: str = "/mcp",
    ) -> None:
        begun = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=child_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._port, self._revision, self._path = port, revision, path
        self._connection = self._connected()
        self._answer(self._request("tools/list", {}))
        clock = time.perf_counter() - begun
        self.start = Sample(self.used(), clock, self.memory())

    def calls(self, params: Mapping[str, Any], count: int) -> list[float]:
        """Return the seconds of each of `count` sequential calls."""
        request, seconds = self._request("tools/call", params), []
        # Servers close connections that are idle while other servers are measured.
        self._connection.close()
        self._connection = self._connected()
        for _ in range(count):
            begun = time.perf_counter()
            answer = self._answer(request)
            seconds.append(time.perf_counter() - begun)
            assert b'"content"' in answer and b'"isError":true' not in answer, answer
        return seconds

    def used(self) -> float:
        """Return the CPU seconds that the server has used."""
        return used(self._process.pid)

    def memory(self) -> float:
        """Return the peak memory of the server in MiB."""
        return _peak(self._process.pid)

    def close(self) -> None:
        """Stop the server."""
        self._connection.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _connected(self) -> socket.socket:
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", self._port))
            except ConnectionRefusedError:
                assert self._process.poll() is None, "the server ended"
                time.sleep(0.005)
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection

    def _request(self, method: str, params: Mapping[str, Any]) -> bytes:
        return rpc_request(self._port, self._path, method, params, self._revision)

    def _answer(self, request: bytes) -> bytes:
        self._connection.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._received()
        head, _, body = data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), data[:500]
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        if length:
            while len(body) < int(length):
                body += self._received()
        else:
            while not body.endswith(b"0\r\n\r\n"):
                body += self._received()
        return body

    def _received(self) -> bytes:
        data = self._connection.recv(1 << 20)
        assert data, "the server closed the connection"
        return data

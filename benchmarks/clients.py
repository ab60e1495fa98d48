"""Blocking JSON-RPC clients, without the SDK, for measured servers.

The client shares a core with the server, so it must use little processor time: requests are
encoded in advance, and answers are only searched for a few marks of a valid result.
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

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
_CLIENT = {"name": "bench", "version": "1"}
_INITIALIZE_PARAMS = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": _CLIENT,
}
_META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _encode_request(number: int, method: str, params: Mapping[str, Any]) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message).encode()


def encode_message(method: str, params: Mapping[str, Any], revision: str) -> bytes:
    """Encode a JSON-RPC request, without a line break."""
    if revision == MODERN:
        params = {**params, "_meta": _META}
    return _encode_request(7, method, params)


def encode_http_request(
    port: int,
    path: str,
    method: str,
    params: Mapping[str, Any],
    revision: str,
    headers: str = "",
) -> bytes:
    """Encode an HTTP request with a JSON-RPC body.

    Args:
        port: port of the server.
        path: path of its MCP endpoint.
        method: JSON-RPC method.
        params: parameters of the method.
        revision: protocol version.
        headers: additional header lines, each with its line break.
    """
    if revision == MODERN:
        name = f"Mcp-Name: {params['name']}\r\n" if "name" in params else ""
        headers += f"Mcp-Method: {method}\r\n{name}"
    body = encode_message(method, params, revision)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        "Content-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        f"MCP-Protocol-Version: {revision}\r\n{headers}"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def read_cpu_seconds(process: int) -> float:
    """Return the processor seconds of a process and its descendants."""
    # This Linux clock has nanosecond resolution; /proc has hundredths of a second.
    # Source: https://www.man7.org/linux/man-pages/man3/clock_getcpuclockid.3.html
    own = time.clock_gettime((~process << 3) | 2)
    children = Path(f"/proc/{process}/task/{process}/children").read_text()
    return own + sum(read_cpu_seconds(int(child)) for child in children.split())


def _read_peak_memory(process: int) -> float:
    """Return the peak memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


class Stdio:
    """Client of a server over stdio, after the handshake and the first `tools/list`.

    Attributes:
        start: sample from the process start to the answer to `tools/list`.
    """

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        started = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=child_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 1
        request = _encode_request(0, "initialize", _INITIALIZE_PARAMS)
        self._send(
            request + b'\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        )
        self._read_answer()
        self.time_list_tools()
        clock = time.perf_counter() - started
        self.start = Sample(self.read_cpu_seconds(), clock, self.read_memory())

    def time_list_tools(self) -> float:
        """Return the seconds of one `tools/list`."""
        started = time.perf_counter()
        self._send(_encode_request(1, "tools/list", {}) + b"\n")
        assert b'"tools":[' in self._read_answer()
        return time.perf_counter() - started

    def time_calls(self, params: Mapping[str, Any], count: int) -> list[float]:
        """Return the seconds of each of `count` sequential calls."""
        line, seconds = _encode_request(7, "tools/call", params) + b"\n", []
        for _ in range(count):
            started = time.perf_counter()
            self._send(line)
            answer = self._read_answer()
            seconds.append(time.perf_counter() - started)
            assert b'"content"' in answer and b'"isError":true' not in answer, answer
        return seconds

    def time_pipelined_calls(
        self, params: Mapping[str, Any], count: int, window: int
    ) -> float:
        """Return the seconds of `count` calls with up to `window` of them in flight."""
        line = _encode_request(7, "tools/call", params) + b"\n"
        started = time.perf_counter()
        self._send(line * window)
        for number in range(count):
            self._read_answer()
            if number + window < count:
                self._send(line)
        return time.perf_counter() - started

    def read_cpu_seconds(self) -> float:
        """Return the processor seconds of the server."""
        return read_cpu_seconds(self._process.pid)

    def read_memory(self) -> float:
        """Return the peak memory of the server in MiB."""
        return _read_peak_memory(self._process.pid)

    def close(self) -> None:
        """Kill the server."""
        self._process.kill()
        self._process.communicate()

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        os.write(self._process.stdin.fileno(), data)

    def _read_answer(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the server ended"
        return line


def free_port() -> int:
    """Return a port that is currently free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Http:
    """Client of a server over HTTP, with one connection and no session.

    Args:
        command: command line that starts the server.
        folder: working directory of the server.
        port: port of the server.
        revision: protocol version of the requests.
        path: path of the MCP endpoint.

    Attributes:
        start: sample from the process start to the answer to `tools/list`.
    """

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        port: int,
        revision: str = MODERN,
        path: str = "/mcp",
    ) -> None:
        started = time.perf_counter()
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
        self._connection = self._connect()
        self._read_answer(self._request("tools/list", {}))
        clock = time.perf_counter() - started
        self.start = Sample(self.read_cpu_seconds(), clock, self.read_memory())

    def time_calls(self, params: Mapping[str, Any], count: int) -> list[float]:
        """Return the seconds of each of `count` sequential calls."""
        request, seconds = self._request("tools/call", params), []
        # Servers close connections that were idle during the turns of the other servers.
        self._connection.close()
        self._connection = self._connect()
        for _ in range(count):
            started = time.perf_counter()
            answer = self._read_answer(request)
            seconds.append(time.perf_counter() - started)
            assert b'"content"' in answer and b'"isError":true' not in answer, answer
        return seconds

    def read_cpu_seconds(self) -> float:
        """Return the processor seconds of the server."""
        return read_cpu_seconds(self._process.pid)

    def read_memory(self) -> float:
        """Return the peak memory of the server in MiB."""
        return _read_peak_memory(self._process.pid)

    def close(self) -> None:
        """Kill the server."""
        self._connection.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _connect(self) -> socket.socket:
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
        return encode_http_request(
            self._port, self._path, method, params, self._revision
        )

    def _read_answer(self, request: bytes) -> bytes:
        self._connection.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._receive()
        head, _, body = data.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), data[:500]
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        if length:
            while len(body) < int(length):
                body += self._receive()
        else:
            while not body.endswith(b"0\r\n\r\n"):
                body += self._receive()
        return body

    def _receive(self) -> bytes:
        data = self._connection.recv(1 << 20)
        assert data, "the server closed the connection"
        return data

"""Generated MCP servers as processes, with clients that send raw JSON-RPC."""

from __future__ import annotations

import itertools
import json
import queue
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.forked_servers import Process, start
from tests.http.serving import (
    CLIENT,
    LEGACY,
    MODERN,
    Server,
    build_environment,
    meta,
    run_server,
)

__all__ = [
    "CLIENT",
    "ERAS",
    "LEGACY",
    "MODERN",
    "HttpServer",
    "StdioServer",
    "get_text",
]
__all__ += ["http_server", "meta", "encode_requests", "stdio_server"]

ERAS = (LEGACY, MODERN)

_TIMEOUT_S = 60.0


def encode_requests(era: str, *requests: tuple[str, Mapping[str, Any]]) -> str:
    """Return requests as lines for stdio, after a handshake if the version has one.

    The id of a call is its tool name; the id of another request is its method.
    """
    messages: list[dict[str, Any]] = []
    if era == LEGACY:
        init = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT}
        messages = [
            {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": init},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
    for method, params in requests:
        number = params.get("name", method)
        message = {"jsonrpc": "2.0", "id": number, "method": method}
        message["params"] = {**params, "_meta": meta()} if era == MODERN else params
        messages.append(message)
    return "".join(json.dumps(message) + "\n" for message in messages)


def get_text(answer: Mapping[str, Any]) -> str:
    """Return the text of an answer's first content block."""
    return str(answer["result"]["content"][0]["text"])


class StdioServer:
    """Running stdio server with a client of one protocol version."""

    def __init__(self, process: Process, era: str) -> None:
        self.era = era
        self.lines: list[bytes] = []
        self._process = process
        self._numbers = itertools.count(1)
        self._incoming: queue.Queue[bytes | None] = queue.Queue()
        self._answers: dict[Any, dict[str, Any]] = {}
        self.notifications: list[dict[str, Any]] = []
        self._stderr: list[bytes] = []
        for stream, append in (
            (process.stdout, self._incoming.put),
            (process.stderr, self._stderr.append),
        ):
            assert stream is not None
            threading.Thread(target=_pump, args=(stream, append), daemon=True).start()

    @property
    def log(self) -> str:
        """Everything that the server has written to stderr."""
        return b"".join(line for line in self._stderr if line).decode()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one message to the server."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request and return its id."""
        number = next(self._numbers)
        params = dict(params or {})
        if self.era == MODERN:
            params["_meta"] = meta(**params.get("_meta", {}))
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(message)
        return number

    def answer(self, number: int) -> dict[str, Any]:
        """Return the answer to a request; store earlier notifications."""
        while number not in self._answers:
            self._receive()
        return self._answers.pop(number)

    def notification(self) -> dict[str, Any]:
        """Return and remove the next notification or request of the server."""
        while not self.notifications:
            self._receive()
        return self.notifications.pop(0)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Send a request and return its answer."""
        return self.answer(self.start(method, params))

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Call a tool and return the answer."""
        params = {"name": tool, "arguments": dict(arguments or {})}
        return self.request("tools/call", params)

    def handshake(self, capabilities: Mapping[str, Any]) -> None:
        """Run the handshake of the older version."""
        params = {"protocolVersion": LEGACY, "capabilities": dict(capabilities)}
        params["clientInfo"] = CLIENT
        result = self.request("initialize", params)["result"]
        assert result["protocolVersion"] == LEGACY
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def end(self) -> int:
        """Close the server's stdin and return its exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(_TIMEOUT_S)

    def _receive(self) -> None:
        """Store the next answer or notification of the server."""
        line = self._incoming.get(timeout=_TIMEOUT_S)
        assert line is not None, f"the server exited\n{self.log}"
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "id" in message and "method" not in message:
            self._answers[message["id"]] = message
        else:
            self.notifications.append(message)


def _pump(stream: IO[bytes], append: Any) -> None:
    with stream:
        for line in stream:
            append(line)
    append(None)


@contextmanager
def stdio_server(
    root: Path,
    package: str,
    *arguments: str,
    era: str = MODERN,
    env: Mapping[str, str] | None = None,
    capabilities: Mapping[str, Any] | None = None,
) -> Iterator[StdioServer]:
    """Start a server of the project at `root` over stdio, and stop it at the end.

    The handshake is done if the version has one.
    """
    variables = build_environment(env)
    process = start(root, f"{package}.mcp_server", *arguments, env=variables)
    try:
        server = StdioServer(process, era)
        if era == LEGACY:
            server.handshake(capabilities or {})
        yield server
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


class HttpServer:
    """Running server over streamable HTTP, with requests of both protocol versions."""

    def __init__(self, server: Server, path: str = "/mcp") -> None:
        self.path = path
        self._server = server

    @property
    def url(self) -> str:
        """The URL of the endpoint."""
        return f"http://127.0.0.1:{self._server.port}{self.path}"

    @property
    def log(self) -> str:
        """Everything that the server has written to stderr."""
        return self._server.log

    def raw(
        self, era: str, method: str, params: Mapping[str, Any] | None = None
    ) -> bytes:
        """Send a request and return the JSON bytes of its answer."""
        modern = era == MODERN
        return self._server.request(self.path, method, params, modern=modern).json_bytes

    def request(
        self, era: str, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Send a request and return its answer."""
        message: dict[str, Any] = json.loads(self.raw(era, method, params))
        return message


@contextmanager
def http_server(
    root: Path, package: str, *arguments: str, env: Mapping[str, str] | None = None
) -> Iterator[HttpServer]:
    """Start a server of the project at `root` on a free port, and stop it at the end."""
    with run_server(*arguments, package=package, root=root, env=env) as server:
        yield HttpServer(server)

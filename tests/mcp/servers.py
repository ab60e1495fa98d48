"""Runs generated MCP servers as real processes and speaks raw JSON-RPC with them."""

from __future__ import annotations

import itertools
import json
import os
import queue
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.forked_servers import Process, start

__all__ = [
    "ERAS",
    "MODERN",
    "HttpServer",
    "StdioServer",
    "http_server",
    "meta",
    "sent",
    "stdio_server",
]

LEGACY, MODERN = "2025-11-25", "2026-07-28"
ERAS = (LEGACY, MODERN)
"""The last protocol revision with a handshake, and the first without."""

_CLIENT = {"name": "tests", "version": "1"}
_PATIENCE = 60.0


def meta(**more: Any) -> dict[str, Any]:
    """What every request of the modern era carries in `_meta`."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
        **more,
    }


def sent(era: str, *requests: tuple[str, Mapping[str, Any]]) -> str:
    """The lines of these requests, after those that the older era begins with.

    The id of a call is its tool, that of another request its method.
    """
    messages: list[dict[str, Any]] = []
    if era == LEGACY:
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}
        messages = [
            {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
        ]
    for method, params in requests:
        given = {**params, "_meta": meta()} if era == MODERN else params
        number = params.get("name", method)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        messages.append(message)
    return "".join(json.dumps(message) + "\n" for message in messages)


def _environment(more: Mapping[str, str] | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**kept, **(more or {})}


class StdioServer:
    """A running server over stdio, one protocol era for its whole life."""

    def __init__(self, process: Process, era: str) -> None:
        self.era = era
        self.lines: list[bytes] = []
        self._process = process
        self._numbers = itertools.count(1)
        self._incoming: queue.Queue[bytes | None] = queue.Queue()
        self._answers: dict[Any, dict[str, Any]] = {}
        self.notifications: list[dict[str, Any]] = []
        self._stderr: list[bytes] = []
        for stream, take in (
            (process.stdout, self._incoming.put),
            (process.stderr, self._stderr.append),
        ):
            assert stream is not None
            threading.Thread(target=_pump, args=(stream, take), daemon=True).start()

    @property
    def log(self) -> str:
        """What the server wrote to stderr so far."""
        return b"".join(line for line in self._stderr if line).decode()

    def send(self, message: Mapping[str, Any]) -> None:
        """One line to the server."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Sends a request and gives its number."""
        number = next(self._numbers)
        given = dict(params or {})
        if self.era == MODERN:
            given["_meta"] = meta(**given.get("_meta", {}))
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        self.send(message)
        return number

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to a request; keeps the notifications that come before it."""
        while number not in self._answers:
            message = self._next()
            if "id" in message and "method" not in message:
                self._answers[message["id"]] = message
            else:
                self.notifications.append(message)
        return self._answers.pop(number)

    def notification(self) -> dict[str, Any]:
        """The next notification, or request of the server, that has not been taken."""
        while not self.notifications:
            message = self._next()
            if "id" in message and "method" not in message:
                self._answers[message["id"]] = message
            else:
                self.notifications.append(message)
        return self.notifications.pop(0)

    def request(
        self, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """A request's answer."""
        return self.answer(self.start(method, params))

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The answer to a `tools/call`."""
        return self.request(
            "tools/call", {"name": tool, "arguments": dict(arguments or {})}
        )

    def handshake(self, capabilities: Mapping[str, Any]) -> None:
        """What the legacy era begins with."""
        hello = {
            "protocolVersion": LEGACY,
            "capabilities": dict(capabilities),
            "clientInfo": _CLIENT,
        }
        assert self.request("initialize", hello)["result"]["protocolVersion"] == LEGACY
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def end(self) -> int:
        """Closes the server's input and gives the code that it ends with."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(_PATIENCE)

    def _next(self) -> dict[str, Any]:
        line = self._incoming.get(timeout=_PATIENCE)
        assert line is not None, f"the server ended\n{self.log}"
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message


def _pump(stream: IO[bytes], take: Any) -> None:
    with stream:
        for line in stream:
            take(line)
    take(None)


@contextmanager
def stdio_server(
    root: Path,
    package: str,
    *arguments: str,
    era: str = MODERN,
    env: Mapping[str, str] | None = None,
    capabilities: Mapping[str, Any] | None = None,
) -> Iterator[StdioServer]:
    """A server below `root` over stdio, past its handshake; ended afterwards."""
    process = start(root, f"{package}.mcp_server", *arguments, env=_environment(env))
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
    """A running server over streamable HTTP."""

    def __init__(self, url: str, log: list[bytes]) -> None:
        self.url = url
        self._log = log
        self._numbers = itertools.count(1)

    @property
    def log(self) -> str:
        """What the server wrote to stderr so far."""
        return b"".join(line for line in self._log if line).decode()

    def raw(
        self, era: str, method: str, params: Mapping[str, Any] | None = None
    ) -> bytes:
        """The JSON bytes of the answer to one request."""
        given = dict(params or {})
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": era,
        }
        if era == MODERN:
            given["_meta"] = meta(**given.get("_meta", {}))
            headers["Mcp-Method"] = method
            if "name" in given or "uri" in given:
                headers["Mcp-Name"] = given.get("name") or given["uri"]
        message = {
            "jsonrpc": "2.0",
            "id": next(self._numbers),
            "method": method,
            "params": given,
        }
        request = urllib.request.Request(
            self.url, json.dumps(message).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE) as response:
                body = response.read()
        except urllib.error.HTTPError as error:
            body = error.read()
        events = re.findall(rb"^data: ?(\{.*)$", body, re.MULTILINE)
        return events[-1].rstrip(b"\r") if events else body

    def request(
        self, era: str, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The answer to one request."""
        message: dict[str, Any] = json.loads(self.raw(era, method, params))
        return message


@contextmanager
def http_server(
    root: Path,
    package: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
) -> Iterator[HttpServer]:
    """A server below `root` over HTTP on a free port; ended afterwards."""
    process = start(
        root,
        f"{package}.mcp_server",
        "--http",
        "--port",
        "0",
        *arguments,
        env=_environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        assert process.stderr is not None
        log: list[bytes] = []
        for line in process.stderr:
            log.append(line)
            started = re.search(rb"running on (http://[0-9.:]+)", line)
            if started:
                break
        else:
            raise AssertionError(b"".join(log).decode())
        threading.Thread(
            target=_pump, args=(process.stderr, log.append), daemon=True
        ).start()
        yield HttpServer(f"{started[1].decode()}/mcp", log)
    finally:
        process.terminate()
        process.wait()

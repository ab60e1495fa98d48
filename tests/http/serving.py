"""Start a generated server over HTTP as a process and send raw requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forked_servers import Process, start
from tests.waiting import wait_until

__all__ = [
    "CLIENT",
    "LEGACY",
    "MODERN",
    "ROOT",
    "Response",
    "Server",
    "build_environment",
    "meta",
    "rpc",
    "run_server",
]

ROOT = Path(__file__).parents[2]
CLIENT = {"name": "tests", "version": "1"}
LEGACY, MODERN = "2025-11-25", "2026-07-28"
"""The last protocol version with a handshake and the first stateless version."""
_TIMEOUT_S = 60.0
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


@dataclass(frozen=True)
class Response:
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json_bytes(self) -> bytes:
        """The body, or the data of its last server-sent event."""
        events = re.findall(rb"^data: ?(\{.*?)\r?$", self.body, re.MULTILINE)
        return events[-1] if events else self.body

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message of the body."""
        message: dict[str, Any] = json.loads(self.json_bytes)
        return message


@dataclass
class Server:
    """A server process that accepts requests."""

    process: Process
    port: int
    lines: list[bytes] = field(default_factory=list)

    @property
    def log(self) -> str:
        """The text that the process has written to stderr."""
        return b"".join(self.lines).decode()

    def send(
        self,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> Response:
        """Send a request; `headers` override the default headers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, {**HEADERS, **(headers or {})})
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, received, response.read())
        finally:
            connection.close()

    def request(
        self,
        path: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        modern: bool = False,
    ) -> Response:
        """Send a JSON-RPC request of the handshake or the stateless protocol."""
        body, headers = rpc(method, params, modern=modern)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.send(path, body, headers)

    def wait_for_log(self, text: str, after: int = 0) -> None:
        """Wait until the log contains a text after its first `after` lines."""
        wait_until(
            lambda: text in b"".join(self.lines[after:]).decode(), lambda: self.log
        )

    def stop(self) -> int:
        """Terminate the process and return its exit code."""
        self.process.terminate()
        return self.process.wait(_TIMEOUT_S)


def meta(**fields: Any) -> dict[str, Any]:
    """Return the `_meta` of a request in the stateless version, with further fields."""
    return {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
        **fields,
    }


def rpc(
    method: str, params: Mapping[str, Any] | None = None, *, modern: bool = False
) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a JSON-RPC request."""
    params = dict(params or {})
    version = MODERN if modern else LEGACY
    headers = {**HEADERS, "MCP-Protocol-Version": version}
    if modern:
        params["_meta"] = meta(**params.get("_meta", {}))
        headers["Mcp-Method"] = method
        if name := params.get("name", params.get("uri")):
            headers["Mcp-Name"] = name
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.dumps(message).encode(), headers


def build_environment(overrides: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of a server process, without proxies."""
    env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    return {**env, **(overrides or {})}


@contextmanager
def run_server(
    *options: str,
    package: str = "generated.kirishima",
    root: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """Start a server on a free loopback port; terminate it on exit."""
    process = start(
        root,
        f"{package}.mcp_server",
        "--http",
        "--port",
        "0",
        *options,
        env=build_environment(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        assert process.stderr is not None
        server = Server(process, 0)
        for line in process.stderr:
            server.lines.append(line)
            started = re.search(rb"running on http://[^ ]*:(\d+)", line)
            if started:
                server.port = int(started[1])
                break
        assert server.port, server.log

        def collect_log() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                server.lines.append(line)

        threading.Thread(target=collect_log, daemon=True).start()
        if "--workers" in options:
            server.wait_for_log("Application startup complete")
        yield server
    finally:
        process.terminate()
        process.wait()

"""A generated server over HTTP as a real process, and raw requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forked_servers import Process, start

__all__ = ["Response", "RunningServer", "ROOT", "rpc", "run_server"]

ROOT = Path(__file__).parents[2]
_MODERN = "2026-07-28"
_PATIENCE = 60.0


@dataclass(frozen=True)
class Response:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """The JSON of the body, or of its last event."""
        events = re.findall(rb"^data: ?(\{.*?)\r?$", self.body, re.MULTILINE)
        found: dict[str, Any] = json.loads(events[-1] if events else self.body)
        return found


@dataclass
class RunningServer:
    """A running server."""

    process: Process
    port: int
    lines: list[bytes] = field(default_factory=list)

    @property
    def log(self) -> str:
        """What it wrote to stderr so far."""
        return b"".join(self.lines).decode()

    def send(
        self,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        method: str = "POST",
    ) -> Response:
        """One request; a header that is given replaces the usual one of its name."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        usual = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        try:
            connection.request(method, path, body, {**usual, **(headers or {})})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, found, response.read())
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
        """One JSON-RPC request of either protocol era."""
        body, headers = rpc(method, params, modern=modern)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self.send(path, body, headers)

    def wait_for_log(self, text: str, after: int = 0) -> None:
        """Waits until the log has a text after its first so many lines."""
        deadline = time.monotonic() + _PATIENCE
        while text not in b"".join(self.lines[after:]).decode():
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)

    def stop(self) -> int:
        """Asks it to end, and gives the code that it ends with."""
        self.process.terminate()
        return self.process.wait(_PATIENCE)


def rpc(
    method: str, params: Mapping[str, Any] | None = None, *, modern: bool = False
) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a request."""
    given = dict(params or {})
    headers = {"MCP-Protocol-Version": _MODERN if modern else "2025-11-25"}
    if modern:
        given["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": _MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            **given.get("_meta", {}),
        }
        headers["Mcp-Method"] = method
        if name := given.get("name", given.get("uri")):
            headers["Mcp-Name"] = name
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": given}
    return json.dumps(message).encode(), headers


@contextmanager
def run_server(
    *words: str,
    package: str = "generated.kirishima",
    root: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> Iterator[RunningServer]:
    """A server on a free loopback port; ended afterwards."""
    process = start(
        root,
        f"{package}.mcp_server",
        "--http",
        "--port",
        "0",
        *words,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        assert process.stderr is not None
        server = RunningServer(process, 0)
        for line in process.stderr:
            server.lines.append(line)
            started = re.search(rb"running on http://[^ ]*:(\d+)", line)
            if started:
                server.port = int(started[1])
                break
        assert server.port, server.log

        def keep() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                server.lines.append(line)

        threading.Thread(target=keep, daemon=True).start()
        if "--workers" in words:
            server.wait_for_log("Application startup complete")
        yield server
    finally:
        process.terminate()
        process.wait()

"""The shop as a server over each transport, with clients of each protocol version."""

from __future__ import annotations

import itertools
import json
import queue
import sqlite3
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types

from tests.mcp.servers import (
    LEGACY,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    stdio_server,
)
from tests.waiting import wait_until

KEY = "k" * 32
YES = {"action": "accept", "content": {"approve": True}}
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ELICITATION = {"elicitation": {"form": {}}}


@dataclass(frozen=True)
class Shop:
    """The generated shop, its handlers' side effects, and its ledger.

    Attributes:
        root: root of the generated project.
        location: folder for the side effects and the ledger.
        key: value of SHOP_STATE_KEY.
        answer_timeout: seconds for which a server waits for an answer.
    """

    root: Path
    location: Path
    key: str = KEY
    answer_timeout: float = 600

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SHOP_DONE": str(self.location / "done.txt"),
            "SHOP_LEDGER": str(self.location / "ledger.sqlite3"),
            "SHOP_STATE_KEY": self.key,
            "SHOP_ANSWER_TIMEOUT_S": str(self.answer_timeout),
        }

    @property
    def side_effects(self) -> list[str]:
        """The lines that handlers wrote, in order."""
        file = self.location / "done.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def list_approvals(self, *columns: str) -> list[tuple[Any, ...]]:
        """Return columns of the ledger's approvals, in the order of the questions."""
        with closing(sqlite3.connect(self.location / "ledger.sqlite3")) as connection:
            query = f"SELECT {', '.join(columns)} FROM approvals ORDER BY asked"
            return connection.execute(query).fetchall()

    def advance_clock(self, seconds: float) -> None:
        """Set the clock of the servers of `timed_shop` forward."""
        (self.location / "done.later").write_text(str(seconds))

    @contextmanager
    def serve_http(
        self, *options: str, package: str = "timed_shop"
    ) -> Iterator[HttpServer]:
        """Start an HTTP server; with `--workers`, wait until all workers have started."""
        with http_server(self.root, package, *options, env=self.environment) as server:
            if "--workers" in options:
                workers = int(options[options.index("--workers") + 1])
                started = "Application startup complete"
                wait_until(lambda: server.log.count(started) >= workers)
            yield server

    @contextmanager
    def serve_stdio(
        self, era: str, *options: str, capabilities: Mapping[str, Any] = ELICITATION
    ) -> Iterator[StdioServer]:
        """Start a stdio server for a client with these capabilities."""
        with stdio_server(
            self.root,
            "timed_shop",
            *options,
            era=era,
            env=self.environment,
            capabilities=capabilities,
        ) as server:
            yield server

    @contextmanager
    def connect_stateless(
        self, transport: str, client: str = "desk"
    ) -> Iterator[StatelessClient]:
        """Start a server and return a client of the stateless protocol version."""
        if transport == "http":
            with self.serve_http() as server:
                if client != "desk":
                    server.path += f"/{client}"
                yield StatelessClient(server)
        else:
            with self.serve_stdio(MODERN, "--client", client) as served:
                yield StatelessClient(served)

    @contextmanager
    def connect_handshake(
        self,
        transport: str,
        client: str = "desk",
        capabilities: Mapping[str, Any] = ELICITATION,
    ) -> Iterator[HandshakeClient]:
        """Start a server and return a client of a handshake version."""
        if transport == "http":
            with self.serve_http() as server:
                url = server.url if client == "desk" else f"{server.url}/{client}"
                yield HttpHandshakeClient(url, capabilities)
        else:
            with self.serve_stdio(
                LEGACY, "--client", client, capabilities=capabilities
            ) as served:
                yield StdioHandshakeClient(served)


class StatelessClient:
    """Client of the version in which a call is repeated with its answers."""

    def __init__(self, server: HttpServer | StdioServer) -> None:
        self.server = server

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        capabilities: Mapping[str, Any] = ELICITATION,
        **more: Any,
    ) -> dict[str, Any]:
        """Return the response to a call."""
        params = {
            "name": tool,
            "arguments": dict(arguments),
            "_meta": {_CAPABILITIES: capabilities},
            **more,
        }
        if isinstance(self.server, HttpServer):
            return self.server.request(MODERN, "tools/call", params)
        return self.server.request("tools/call", params)

    def get_input_request(
        self, tool: str, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the `inputRequests` and the `requestState` that a call requires."""
        result: dict[str, Any] = self.call(tool, arguments)["result"]
        assert result["resultType"] == "input_required", result
        return result


class _TextReader:
    """Methods of handshake clients that return the text of a response."""

    def read_text(self: Any, number: int) -> str:
        """Return the text of the response to a call."""
        return get_text(self.read_response(number))

    def call_for_text(
        self: Any, tool: str, arguments: Mapping[str, Any], **more: Any
    ) -> str:
        """Call a tool without answering questions; return the text."""
        return str(self.read_text(self.start_call(tool, arguments, **more)))


class StdioHandshakeClient(_TextReader):
    """Stdio client of a version in which the server sends elicitation requests."""

    transport = "stdio"

    def __init__(self, server: StdioServer) -> None:
        self._server = server

    def start_call(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> int:
        """Start a call and return its request ID."""
        params = {"name": tool, "arguments": dict(arguments), **more}
        return self._server.start("tools/call", params)

    def read_question(self) -> dict[str, Any]:
        """Return the server's next elicitation request."""
        return _wait_for_question(self._server.notification)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message that has no response."""
        self._server.send({"jsonrpc": "2.0", **message})

    def answer(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Send a result of an elicitation request."""
        self.send({"id": request["id"], "result": result})

    def read_response(self, number: int) -> dict[str, Any]:
        """Return the response to a call."""
        return self._server.answer(number)


class HttpHandshakeClient(_TextReader):
    """HTTP client of a handshake version; each call has its own response stream.

    Attributes:
        url: the endpoint's URL.
        session: the session's ID; None if the server has not created a session.
        headers: additional headers of each request.
    """

    transport = "http"

    def __init__(
        self,
        url: str,
        capabilities: Mapping[str, Any] = ELICITATION,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = url
        self.headers = headers or {}
        self.session: str | None = None
        self.streams: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._questions: queue.Queue[dict[str, Any]] = queue.Queue()
        self._responses: dict[int, queue.Queue[dict[str, Any]]] = {}
        client = {
            "protocolVersion": LEGACY,
            "capabilities": dict(capabilities),
            "clientInfo": {"name": "tests", "version": "1"},
        }
        request = {"id": 0, "method": "initialize", "params": client}
        with self.open_request("POST", request) as response:
            self.session = response.headers["mcp-session-id"]
            response.read()
        self.send({"method": "notifications/initialized"})

    def open_request(
        self, method: str, message: Mapping[str, Any] | None = None
    ) -> Any:
        """Send a request and return the response with an unread body."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": LEGACY,
            **self.headers,
        }
        if self.session is not None:
            headers["Mcp-Session-Id"] = self.session
        body = None if message is None else json.dumps({"jsonrpc": "2.0", **message})
        request = urllib.request.Request(
            self.url, body and body.encode(), headers, method=method
        )
        return urllib.request.urlopen(request, timeout=60)

    def start_call(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> int:
        """Start a call and return its request ID."""
        number = next(self._numbers)
        params = {"name": tool, "arguments": dict(arguments), **more}
        request = {"id": number, "method": "tools/call", "params": params}
        self._responses[number] = queue.Queue()
        try:
            self.streams[number] = stream = self.open_request("POST", request)
        except urllib.error.HTTPError as error:
            self._responses[number].put(json.loads(error.read()))
        else:
            threading.Thread(
                target=self._read, args=(number, stream), daemon=True
            ).start()
        return number

    def _read(self, number: int, stream: Any) -> None:
        try:
            for line in stream:
                if line.startswith(b"data:") and line[5:].strip():
                    message = json.loads(line[5:])
                    is_request = "method" in message
                    received = (
                        self._questions if is_request else self._responses[number]
                    )
                    received.put(message)
        except (OSError, ValueError, AttributeError):
            pass  # The test has closed the stream.

    def read_question(self) -> dict[str, Any]:
        """Return the server's next elicitation request."""
        return _wait_for_question(lambda: self._questions.get(timeout=60))

    def send(self, message: Mapping[str, Any]) -> int:
        """Send a message and return the HTTP status."""
        try:
            with self.open_request("POST", message) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    def answer(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Send a result of an elicitation request."""
        self.send({"id": request["id"], "result": result})

    def read_response(self, number: int) -> dict[str, Any]:
        """Return the response to a call."""
        return self._responses[number].get(timeout=60)


HandshakeClient = StdioHandshakeClient | HttpHandshakeClient


def _wait_for_question(read_message: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the next elicitation request; skip cancellations of earlier ones."""
    while (request := read_message())["method"] != "elicitation/create":
        assert request["method"] == "notifications/cancelled", request
    return request


def get_text(response: Mapping[str, Any]) -> str:
    """Return the text of a final result, or the message of an error."""
    if "error" in response:
        return str(response["error"]["message"])
    assert response["result"].get("resultType", "complete") == "complete", response
    return str(response["result"]["content"][0]["text"])


def call_handshake_http(server: HttpServer, tool: str, **arguments: Any) -> str:
    """Return the text that a handshake client receives for a call over HTTP."""
    params = {"name": tool, "arguments": arguments}
    return get_text(server.request(LEGACY, "tools/call", params))


FORMS: dict[str, dict[str, Any]] = {
    "Pay this order back?": {"approve": True},
    "How many seats on Monday?": {"seats": 3},
    "Where?": {"place": "inside"},
}


async def fill_in_form(context: Any, params: Any) -> types.ElicitResult:
    """Accept an elicitation request as the user would: fill in every field."""
    content = FORMS[params.message.split("\n")[0]]
    assert content.keys() == params.requested_schema["properties"].keys()
    return types.ElicitResult(action="accept", content=content)

"""Where people stand in front of the shop: its servers, in each era, over each transport."""

from __future__ import annotations

import itertools
import json
import queue
import sqlite3
import threading
import time
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

__all__ = [
    "KEY",
    "YES",
    "HttpCounter",
    "ModernCounter",
    "OlderCounter",
    "Shop",
    "StdioCounter",
    "filled_in",
    "legacy_over_http",
    "said",
]

KEY = "k" * 32
YES = {"action": "accept", "content": {"approve": True}}
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
CAN = {"elicitation": {"form": {}}}


@dataclass(frozen=True)
class Shop:
    """The project, what was done in it, and what its ledger says.

    Attributes:
        root: of the generated project.
        place: the folder of one test.
        key: the value of SHOP_STATE_KEY.
        patience: seconds for which a server waits for an answer.
    """

    root: Path
    location: Path
    key: str = KEY
    patience: float = 600

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SHOP_DONE": str(self.location / "done.txt"),
            "SHOP_LEDGER": str(self.location / "ledger.sqlite3"),
            "SHOP_STATE_KEY": self.key,
            "SHOP_PATIENCE": str(self.patience),
        }

    @property
    def done(self) -> list[str]:
        """What handlers have done, a line each."""
        file = self.location / "done.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def approvals(self, *columns: str) -> list[tuple[Any, ...]]:
        """Columns of the ledger's table of questions, in the order in which they were put."""
        with closing(sqlite3.connect(self.location / "ledger.sqlite3")) as connection:
            rows = f"SELECT {', '.join(columns)} FROM approvals ORDER BY asked"
            return connection.execute(rows).fetchall()

    def pass_time(self, seconds: float) -> None:
        """Sets the clock of the servers of `late` forward."""
        (self.location / "done.later").write_text(str(seconds))

    @contextmanager
    def http(self, *options: str, package: str = "late") -> Iterator[HttpServer]:
        with http_server(self.root, package, *options, env=self.environment) as server:
            if "--workers" in options:
                workers = int(options[options.index("--workers") + 1])
                while server.log.count("Application startup complete") < workers:
                    time.sleep(0.05)
            yield server

    @contextmanager
    def stdio(
        self, era: str, *options: str, can: Mapping[str, Any] = CAN
    ) -> Iterator[StdioServer]:
        with stdio_server(
            self.root,
            "late",
            *options,
            era=era,
            env=self.environment,
            capabilities=can,
        ) as server:
            yield server

    @contextmanager
    def modern(self, transport: str, client: str = "desk") -> Iterator[ModernCounter]:
        """A server of the era without sessions."""
        if transport == "http":
            with self.http() as server:
                if client != "desk":
                    server.url += f"/{client}"
                yield ModernCounter(server)
        else:
            with self.stdio(MODERN, "--client", client) as served:
                yield ModernCounter(served)

    @contextmanager
    def older(
        self, transport: str, client: str = "desk", can: Mapping[str, Any] = CAN
    ) -> Iterator[OlderCounter]:
        """A server of the era in which it asks back."""
        if transport == "http":
            with self.http() as server:
                url = server.url if client == "desk" else f"{server.url}/{client}"
                yield HttpCounter(url, can)
        else:
            with self.stdio(LEGACY, "--client", client, can=can) as served:
                yield StdioCounter(served)


class ModernCounter:
    """Calls of the era in which a call is made again with its answers."""

    def __init__(self, server: HttpServer | StdioServer) -> None:
        self.server = server

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        can: Mapping[str, Any] = CAN,
        **more: Any,
    ) -> dict[str, Any]:
        """The whole answer to a call."""
        params = {
            "name": tool,
            "arguments": dict(arguments),
            "_meta": {_CAPABILITIES: can},
            **more,
        }
        if isinstance(self.server, HttpServer):
            return self.server.request(MODERN, "tools/call", params)
        return self.server.request("tools/call", params)

    def asked(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a call needs: its `inputRequests` and `requestState`."""
        result: dict[str, Any] = self.call(tool, arguments)["result"]
        assert result["resultType"] == "input_required", result
        return result


class StdioCounter:
    """Calls of the older era over stdio, in which the server asks back."""

    transport = "stdio"

    def __init__(self, server: StdioServer) -> None:
        self._server = server

    def begin(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> int:
        """Begins a call and gives its number."""
        params = {"name": tool, "arguments": dict(arguments), **more}
        return self._server.start("tools/call", params)

    def question(self) -> dict[str, Any]:
        """The next question of the server."""
        return _question(self._server.notification)

    def send(self, message: Mapping[str, Any]) -> None:
        """A message that gets no answer."""
        self._server.send({"jsonrpc": "2.0", **message})

    def answer(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.send({"id": request["id"], "result": result})

    def end(self, number: int) -> dict[str, Any]:
        return self._server.answer(number)


class HttpCounter:
    """The same over HTTP: a session, in which each call has a stream of its own.

    Attributes:
        url: of the endpoint.
        session: the session's id; None where the server keeps none.
        headers: what each request carries besides.
    """

    transport = "http"

    def __init__(
        self,
        url: str,
        can: Mapping[str, Any] = CAN,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.url = url
        self.headers = headers or {}
        self.session: str | None = None
        self.streams: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._questions: queue.Queue[dict[str, Any]] = queue.Queue()
        self._ends: dict[int, queue.Queue[dict[str, Any]]] = {}
        hello = {
            "protocolVersion": LEGACY,
            "capabilities": dict(can),
            "clientInfo": {"name": "tests", "version": "1"},
        }
        request = {"id": 0, "method": "initialize", "params": hello}
        with self.open("POST", request) as response:
            self.session = response.headers["mcp-session-id"]
            response.read()
        self.send({"method": "notifications/initialized"})

    def open(self, method: str, message: Mapping[str, Any] | None = None) -> Any:
        """The answer of the server, whose body is still to be read."""
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

    def begin(self, tool: str, arguments: Mapping[str, Any], **more: Any) -> int:
        """Begins a call and gives its number."""
        number = next(self._numbers)
        params = {"name": tool, "arguments": dict(arguments), **more}
        request = {"id": number, "method": "tools/call", "params": params}
        self._ends[number] = queue.Queue()
        try:
            self.streams[number] = stream = self.open("POST", request)
        except urllib.error.HTTPError as error:
            self._ends[number].put(json.loads(error.read()))
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
                    to = self._questions if "method" in message else self._ends[number]
                    to.put(message)
        except (OSError, ValueError, AttributeError):
            pass  # the test has closed it

    def question(self) -> dict[str, Any]:
        """The next question of the server."""
        return _question(lambda: self._questions.get(timeout=60))

    def send(self, message: Mapping[str, Any]) -> int:
        """The status of a message that gets no other answer."""
        try:
            with self.open("POST", message) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            return error.code

    def answer(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.send({"id": request["id"], "result": result})

    def end(self, number: int) -> dict[str, Any]:
        return self._ends[number].get(timeout=60)


OlderCounter = StdioCounter | HttpCounter


def _question(taken: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    while (request := taken())["method"] != "elicitation/create":
        # That the server has given an earlier one up.
        assert request["method"] == "notifications/cancelled", request
    return request


def said(answer: Mapping[str, Any]) -> str:
    """What the caller reads."""
    if "error" in answer:
        return str(answer["error"]["message"])
    assert answer["result"].get("resultType", "complete") == "complete", answer
    return str(answer["result"]["content"][0]["text"])


def legacy_over_http(server: HttpServer, tool: str, **arguments: Any) -> str:
    """What a caller of the older era reads."""
    params = {"name": tool, "arguments": arguments}
    return said(server.request(LEGACY, "tools/call", params))


FORMS: dict[str, dict[str, Any]] = {
    "Pay this order back?": {"approve": True},
    "How many seats on Monday?": {"seats": 3},
    "Where?": {"place": "inside"},
}


async def filled_in(context: Any, params: Any) -> types.ElicitResult:
    """Whom the official client asks: a person who agrees, and fills each form in."""
    content = FORMS[params.message.split("\n")[0]]
    assert content.keys() == params.requested_schema["properties"].keys()
    return types.ElicitResult(action="accept", content=content)

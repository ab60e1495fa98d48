"""Where people stand in front of the shop: its servers, in each era, over each transport."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.mcp.servers import (
    LEGACY,
    MODERN,
    HttpServer,
    StdioServer,
    http_server,
    stdio_server,
)

__all__ = ["KEY", "YES", "Counter", "ModernCounter", "Shop", "StdioCounter", "said"]

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
    place: Path
    key: str = KEY
    patience: float = 600

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SHOP_DONE": str(self.place / "done.txt"),
            "SHOP_LEDGER": str(self.place / "ledger.sqlite3"),
            "SHOP_STATE_KEY": self.key,
            "SHOP_PATIENCE": str(self.patience),
        }

    @property
    def done(self) -> list[str]:
        """What handlers have done, a line each."""
        file = self.place / "done.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def approvals(self, *columns: str) -> list[tuple[Any, ...]]:
        """Columns of the ledger's table of questions, in the order in which they were put."""
        with closing(sqlite3.connect(self.place / "ledger.sqlite3")) as connection:
            rows = f"SELECT {', '.join(columns)} FROM approvals ORDER BY asked"
            return connection.execute(rows).fetchall()

    def pass_time(self, seconds: float) -> None:
        """Sets the clock of the servers of `late` forward."""
        (self.place / "done.later").write_text(str(seconds))

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

    def __init__(self, server: StdioServer) -> None:
        self.server = server

    def begin(self, tool: str, arguments: Mapping[str, Any]) -> int:
        """Begins a call and gives its number."""
        params = {"name": tool, "arguments": dict(arguments)}
        return self.server.start("tools/call", params)

    def question(self) -> dict[str, Any]:
        """The next question of the server."""
        while (request := self.server.notification())["method"] != "elicitation/create":
            # That the server has given an earlier one up.
            assert request["method"] == "notifications/cancelled", request
        return request

    def answer(self, request: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.server.send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def end(self, number: int) -> dict[str, Any]:
        return self.server.answer(number)


Counter = ModernCounter | StdioCounter


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

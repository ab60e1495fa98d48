"""The MCP servers that the fake reaches: planted ones, and real ones over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["HttpServer", "McpSide", "PlantedServer", "UnreachableError"]

Call = Callable[[Mapping[str, Any]], Any]


class UnreachableError(Exception):
    """The MCP server does not answer."""


class McpSide(Protocol):
    """What Letta does with an MCP server."""

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """`tools/list`, first page only, as Letta reads it."""
        ...

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """The text of a call and whether it succeeded."""
        ...


@dataclass
class PlantedServer:
    """An MCP server in this process.

    Attributes:
        tools: its tools as `tools/list` gives them, by name.
        handlers: what a call of a tool gives; a tool without one gives its arguments.
        token: the bearer token that it asks for; None for none.
        page: the size of its pages: Letta reads the first one only.
        is_down: it does not answer.
        calls: every call that it got, with the headers.
    """

    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    handlers: dict[str, Call] = field(default_factory=dict)
    token: str | None = None
    page: int | None = None
    is_down: bool = False
    calls: list[tuple[str, dict[str, Any], dict[str, str]]] = field(
        default_factory=list
    )

    def offer(self, *definitions: Mapping[str, Any]) -> None:
        """Adds tools, or replaces those of the same names."""
        for definition in definitions:
            self.tools[definition["name"]] = dict(definition)

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The first page."""
        self._let_in(headers)
        listed = list(self.tools.values())
        return json.loads(json.dumps(listed[: self.page]))

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Runs a handler; what it raises is the text of a failed call."""
        self._let_in(headers)
        self.calls.append((name, dict(arguments), dict(headers)))
        if name not in self.tools:
            return f"Unknown tool: {name}", False
        try:
            result = self.handlers.get(name, dict)(arguments)
        except Exception as error:
            return str(error), False
        return result if isinstance(result, str) else json.dumps(result), True

    def _let_in(self, headers: Mapping[str, str]) -> None:
        if self.is_down:
            raise UnreachableError("All connection attempts failed")
        if self.token is not None:
            given = {key.lower(): value for key, value in headers.items()}
            if given.get("authorization") != f"Bearer {self.token}":
                raise UnreachableError("Authentication failed: 401 Unauthorized")


@dataclass
class HttpServer:
    """A real MCP server at a URL, spoken to as the revision 2025-06-18 without sessions."""

    url: str
    timeout: float = 20.0

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """The first page."""
        tools: list[dict[str, Any]] = self._ask("tools/list", {}, headers)["tools"]
        return tools

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """The texts of the answer, joined."""
        params = {"name": name, "arguments": dict(arguments)}
        result = self._ask("tools/call", params, headers)
        parts = [block.get("text", "") for block in result["content"]]
        return "\n".join(parts), not result.get("isError", False)

    def _ask(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        import httpx

        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        shown = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
            **headers,
        }
        try:
            response = httpx.post(
                self.url, json=request, headers=shown, timeout=self.timeout
            )
            response.raise_for_status()
        except httpx.HTTPError as error:
            raise UnreachableError(str(error)) from error
        text = response.text
        if response.headers["content-type"].startswith("text/event-stream"):
            data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
            text = next(line for line in data if '"id"' in line)
        answer = json.loads(text)
        if "error" in answer:
            raise UnreachableError(str(answer["error"]))
        result: dict[str, Any] = answer["result"]
        return result

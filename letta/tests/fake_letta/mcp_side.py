"""MCP servers for the fake: in this process, and real servers over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

__all__ = ["HttpServer", "McpSide", "PlantedServer", "UnreachableError"]

Call = Callable[[Mapping[str, Any]], Any]


class UnreachableError(Exception):
    """Raised when the MCP server does not answer."""


class McpSide(Protocol):
    """The requests that Letta sends to an MCP server."""

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the first page of `tools/list`, which is all that Letta reads."""
        ...

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Return the text of a call and whether it succeeded."""
        ...


@dataclass
class PlantedServer:
    """An MCP server in this process.

    Attributes:
        tools: its tools in the form of `tools/list`, by name.
        handlers: functions that return a tool's result; by default, a tool returns its
            arguments.
        token: the required bearer token, or None.
        page: the page size; Letta reads only the first page.
        is_down: whether it does not answer.
        calls: all received calls, with their headers.
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
        """Add tools or replace tools with the same names."""
        for definition in definitions:
            self.tools[definition["name"]] = dict(definition)

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the first page."""
        self._authenticate(headers)
        tools = list(self.tools.values())
        return json.loads(json.dumps(tools[: self.page]))

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Run a handler; return an exception's text as a failed call."""
        self._authenticate(headers)
        self.calls.append((name, dict(arguments), dict(headers)))
        if name not in self.tools:
            return f"Unknown tool: {name}", False
        try:
            result = self.handlers.get(name, dict)(arguments)
        except Exception as error:
            return str(error), False
        return result if isinstance(result, str) else json.dumps(result), True

    def _authenticate(self, headers: Mapping[str, str]) -> None:
        if self.is_down:
            raise UnreachableError("All connection attempts failed")
        if self.token is not None:
            received = {key.lower(): value for key, value in headers.items()}
            if received.get("authorization") != f"Bearer {self.token}":
                raise UnreachableError("Authentication failed: 401 Unauthorized")


@dataclass
class HttpServer:
    """A real MCP server at a URL, in revision 2025-06-18 without sessions."""

    url: str
    timeout: float = 20.0

    def list_tools(self, headers: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return the first page."""
        tools: list[dict[str, Any]] = self._send_request("tools/list", {}, headers)[
            "tools"
        ]
        return tools

    def call(
        self, name: str, arguments: Mapping[str, Any], headers: Mapping[str, str]
    ) -> tuple[str, bool]:
        """Return the joined texts of the result."""
        params = {"name": name, "arguments": dict(arguments)}
        result = self._send_request("tools/call", params, headers)
        parts = [block.get("text", "") for block in result["content"]]
        return "\n".join(parts), not result.get("isError", False)

    def _send_request(
        self, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> dict[str, Any]:
        import httpx

        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        request_headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
            **headers,
        }
        try:
            response = httpx.post(
                self.url, json=request, headers=request_headers, timeout=self.timeout
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

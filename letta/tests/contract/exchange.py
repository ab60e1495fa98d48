"""Requests to a Letta server and the parts of its answers that are the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import httpx
import jmespath

from letta.tests.changing_mcp import ChangingMcp, changing_mcp
from letta.tests.scripted_model import ScriptedModel, scripted_model

__all__ = ["SDK", "Exchange"]

SDK = {"User-Agent": "letta-client/1.12.1", "X-Stainless-Package-Version": "1.12.1"}
"""Headers by which the server recognizes letta-client 1.x."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+")


class Exchange:
    """The requests of one scenario to a server.

    Attributes:
        lines: the requests in order, as `{"ask", "body", "status", "answer"}`. Each id
            is replaced by the number of its first appearance (`tool-<3>`), so that
            equal ids are part of the contract and their values are not.
    """

    def __init__(self, base_url: str) -> None:
        # Letta closes the connection after it answered 500.
        headers = {"Connection": "close"}
        self._client = httpx.Client(base_url=base_url, timeout=60, headers=headers)
        self._open = ExitStack()
        self._open.enter_context(self._client)
        self._numbers: dict[str, int] = {}
        self._names_by_url: dict[str, str] = {}
        self.lines: list[dict[str, Any]] = []

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def mcp(self, name: str, *tools: Mapping[str, Any]) -> ChangingMcp:
        """Start an MCP server that stops with the exchange."""
        world = self._open.enter_context(changing_mcp(*tools))
        self._names_by_url[world.url.removesuffix("/mcp")] = f"http://{name}"
        return world

    def model(self) -> ScriptedModel:
        """Start a scripted model that stops with the exchange."""
        model = self._open.enter_context(scripted_model())
        self._names_by_url[model.url.removesuffix("/v1")] = "http://model"
        return model

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        keep: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request and record the answer.

        Args:
            keep: a JMESPath expression for the part of the answer's body that is the
                contract; None records only the status.

        Returns:
            The body as JSON, or None for a body that is not JSON.
        """
        answer = self._client.request(method, path, json=body, headers=headers)
        try:
            value = answer.json()
        except ValueError:
            value = None
        line: dict[str, Any] = {"ask": f"{method} {path}"}
        if headers:
            line["headers"] = dict(headers)
        if body is not None:
            line["body"] = body
        line["status"] = answer.status_code
        if keep is not None:
            line["answer"] = jmespath.search(keep, value)
        self.lines.append(json.loads(self._replace_random_values(json.dumps(line))))
        return value

    def note(self, about: str, value: Any) -> None:
        """Record a value that was observed at the MCP server or the model."""
        text = json.dumps({"seen": about, "value": value})
        self.lines.append(json.loads(self._replace_random_values(text)))

    def _replace_random_values(self, text: str) -> str:
        def number(match: re.Match[str]) -> str:
            known = self._numbers.setdefault(match[0], len(self._numbers) + 1)
            return f"<{known}>"

        text = _UUID.sub(number, text)
        return _LOOPBACK.sub(
            lambda match: self._names_by_url.get(match[0], match[0]), text
        )

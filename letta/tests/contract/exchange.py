"""Asks a Letta server and writes down what of its answers is the contract."""

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
"""What makes the server see a client of letta-client 1.x."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LOOPBACK = re.compile(r"http://127\.0\.0\.1:\d+")


class Exchange:
    """One scenario's talk with a server.

    Attributes:
        lines: what was said, in order: requests as `{"ask", "body", "status", "answer"}`,
            with every id as the number of its first appearance (`tool-<3>`), so that
            whether two ids are the same is part of the contract, and their values are not.
    """

    def __init__(self, base_url: str) -> None:
        # A server that answers 500 drops the connection behind it.
        headers = {"Connection": "close"}
        self._client = httpx.Client(base_url=base_url, timeout=60, headers=headers)
        self._open = ExitStack()
        self._open.enter_context(self._client)
        self._numbers: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self.lines: list[dict[str, Any]] = []

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def mcp(self, name: str, *tools: Mapping[str, Any]) -> ChangingMcp:
        """Starts an MCP server, which ends with the exchange."""
        world = self._open.enter_context(changing_mcp(*tools))
        self._places[world.url.removesuffix("/mcp")] = f"http://{name}"
        return world

    def model(self) -> ScriptedModel:
        """Starts a scripted model, which ends with the exchange."""
        model = self._open.enter_context(scripted_model())
        self._places[model.url.removesuffix("/v1")] = "http://model"
        return model

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        keep: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Sends a request and notes the answer.

        Args:
            keep: a JMESPath expression for the part of the answer's body that is the
                contract; None: only the status is.

        Returns:
            the body as JSON, as it came; None for a body that is no JSON.
        """
        answer = self._client.request(method, path, json=body, headers=headers)
        try:
            said = answer.json()
        except ValueError:
            said = None
        line: dict[str, Any] = {"ask": f"{method} {path}"}
        if headers:
            line["headers"] = dict(headers)
        if body is not None:
            line["body"] = body
        line["status"] = answer.status_code
        if keep is not None:
            line["answer"] = jmespath.search(keep, said)
        self.lines.append(json.loads(self._without_chance(json.dumps(line))))
        return said

    def note(self, about: str, value: Any) -> None:
        """Writes down what was seen elsewhere: at the MCP server or the model."""
        text = json.dumps({"seen": about, "value": value})
        self.lines.append(json.loads(self._without_chance(text)))

    def _without_chance(self, text: str) -> str:
        def number(match: re.Match[str]) -> str:
            known = self._numbers.setdefault(match[0], len(self._numbers) + 1)
            return f"<{known}>"

        text = _UUID.sub(number, text)
        return _LOOPBACK.sub(lambda match: self._places.get(match[0], match[0]), text)

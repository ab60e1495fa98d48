"""Asks the person at the terminal what a server wants to know in the midst of a call.

The server's words are a stranger's: the person is told who asks, and nothing is sent before the person
has seen what and said yes.

Source: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
Needs `mcp`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import mcp_types as types

from ...core.calls.untrusted_text import escaped
from ...core.context import Declined
from ...core.question import Answer, Question
from ...core.validation.json_bounds import measure
from ..consent.requested_schema import problems_with_form
from .terminal import ask_at_terminal

_YES = {
    "type": "object",
    "properties": {"approve": {"type": "boolean"}},
    "required": ["approve"],
}
_MOST_SHOWN = 4_000
_PARTS = ("type", "properties", "required")


class Asking:
    """Answers the `elicitation/create` of one server.

    Args:
        server: its name, which the person is told.
        pause: what holds while a person is asked: nothing is late, and nothing else is shown.
    """

    def __init__(
        self, server: str, pause: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._server = escaped(server)
        self._pause = pause
        self._one = asyncio.Lock()

    async def __call__(
        self, context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """As the SDK's `ElicitationFnT`."""
        # One question at a time: there is one terminal.
        async with self._one:
            try:
                with self._pause():
                    answer = await self._answer(params)
            except Declined as why:
                return types.ErrorData(code=types.INVALID_PARAMS, message=str(why))
        content = None if answer.content is None else dict(answer.content)
        return types.ElicitResult(action=answer.action, content=content)

    async def _answer(self, params: types.ElicitRequestParams) -> Answer:
        if isinstance(params, types.ElicitRequestURLParams):
            return await self._opened(params)
        given = params.requested_schema
        # A title of the whole form is what some servers add; it asks nothing.
        form = {key: given[key] for key in _PARTS if key in given}
        if measure(given).problem is not None or problems_with_form(form):
            raise Declined("the form that it asks for is none that MCP allows")
        said = f"The server {self._server} asks:\n{params.message[:_MOST_SHOWN]}"
        if not form["properties"]:
            return await self._approved(said, {})
        filled = await ask_at_terminal(_question(said, form))
        if filled.action != "accept":
            return filled
        content = filled.content or {}
        sent = f"The server {self._server} is sent:\n{_lines(content)}"
        return await self._approved(sent, content)

    async def _opened(self, params: types.ElicitRequestURLParams) -> Answer:
        """A page that the person opens; what happens there is not told here."""
        if not params.url.startswith(("https://", "http://")):
            raise Declined("the address that it asks to open is none of a web page")
        said = (
            f"The server {self._server} asks you to open this address yourself:\n"
            f"{params.url[:_MOST_SHOWN]}\n{params.message[:_MOST_SHOWN]}"
        )
        answer = await self._approved(said, {})
        return Answer(answer.action)

    async def _approved(self, said: str, content: Mapping[str, Any]) -> Answer:
        answer = await ask_at_terminal(_question(said, _YES, "approve"))
        return Answer(answer.action, content if answer.action == "accept" else None)


def _question(
    message: str, schema: Mapping[str, Any], approval: str | None = None
) -> Question:
    return Question("", message, schema, "the tool", {}, approval)


def _lines(content: Mapping[str, Any]) -> str:
    given = (f"  {name}: {json.dumps(value)}" for name, value in content.items())
    return "\n".join(given) or "  nothing"

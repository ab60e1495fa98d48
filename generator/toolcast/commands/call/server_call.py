"""The call of a tool of any MCP server by hand, and what the server asks in the midst of it.

The server's words are a stranger's: the person at the terminal is told who asks, and nothing is sent
before the person has seen what and said yes.

Source: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
Needs `mcp`.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mcp_types as types

from toolcast_runtime.cli.terminal import (
    ProgressLine,
    ask_at_terminal,
    has_terminal,
)
from toolcast_runtime.consent.questions import check_form
from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.calls.untrusted_text import (
    escape_excerpt,
    redact_text,
    redact_value,
)
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.context import DeclinedError
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.question import Answer, Question
from toolcast_runtime.core.server_settings import (
    ExternalServer,
    MissingVariableError,
    ResolvedServer,
    resolve_server,
)
from toolcast_runtime.core.validation.limits import has_too_many_paths, measure_value
from toolcast_runtime.external.session import (
    RequestRefusedError,
    Session,
    open_session,
)

from .arguments import CallError, OfferedTools, Request, call_once

_YES = {
    "type": "object",
    "properties": {"approve": {"type": "boolean"}},
    "required": ["approve"],
}
_MAX_SHOWN_CHARACTERS = 4_000
"""Characters of a server's message, or of its URL, that are shown."""
_PARTS = ("type", "properties", "required")


def call_on_server(server: ExternalServer, request: Request) -> int:
    """Calls a tool of a server, connected for this call alone; as `call_once`.

    Tools have the names that the server's settings give them.

    Raises:
        CallError: there is no connection, or the server refuses.
    """
    where = f"the server {escape_excerpt(server.name)}"
    try:
        resolved = resolve_server(server, os.environ)
    except MissingVariableError as error:
        raise CallError(f"{where}: {error}") from None
    try:
        return run_sync(_call(server, resolved, request, where))
    except (RequestRefusedError, TimeoutError) as error:
        told = escape_excerpt(redact_text(str(error), resolved.secrets), 1000)
        raise CallError(f"{where}: {told}") from None


async def _call(
    server: ExternalServer, resolved: ResolvedServer, request: Request, where: str
) -> int:
    watched = _ProgressCall(server, ProgressLine(resolved.secrets))
    ask = watched.ask if has_terminal() else None
    async with open_session(server, resolved, ask) as session:
        own: dict[str, str] = {}
        tools: dict[str, Tool] = {}
        for definition in await session.list_tools():
            name = str(definition.get("name"))
            if server.is_allowed(name):
                here = server.get_local_name(name)
                own.setdefault(here, name)
                tools.setdefault(here, _tool(here, definition))

        async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            answer = await watched.answer(session, own[tool.name], arguments)
            problem = measure_value(answer).problem
            if problem is not None:
                raise CallError(f"the tool's answer has {problem}")
            kept: Mapping[str, Any] = redact_value(answer, resolved.secrets)
            return kept

        return await call_once(OfferedTools(where, tools, _problems, call), request)


def _problems(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    schema = tool.parameters
    if measure_value(dict(schema)).problem is not None or has_too_many_paths(schema):
        return ["the tool's schema is too large to check arguments by it"]
    return Validators().check_arguments(tool, arguments)


def _tool(name: str, definition: Mapping[str, Any]) -> Tool:
    description = definition.get("description") or definition.get("title") or ""
    first = next((line for line in str(description).splitlines() if line.strip()), "")
    schema = definition.get("inputSchema")
    given = {**definition, "inputSchema": schema if isinstance(schema, dict) else {}}
    return Tool(name, first.strip(), str(description), given)


class _ProgressCall:
    """A call of which a person sees how far it is, and in which one may be asked."""

    def __init__(self, server: ExternalServer, line: ProgressLine) -> None:
        self._server = escape_excerpt(server.name)
        self._seconds = server.call_timeout
        self._line = line
        self._deadline: asyncio.Timeout | None = None
        self._one = asyncio.Lock()

    async def answer(
        self, session: Session, name: str, arguments: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        try:
            async with asyncio.timeout(self._seconds) as self._deadline:
                return await session.call(name, arguments, self._line)
        except TimeoutError:
            late = f"it did not answer the call within {self._seconds:g} s"
            raise TimeoutError(late) from None
        finally:
            self._deadline = None
            self._line.clear()

    async def ask(
        self, context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Answers `elicitation/create`, as the SDK's `ElicitationFnT`."""
        # One question at a time: there is one terminal.
        async with self._one:
            try:
                with self._paused():
                    answer = await self._asked(params)
            except DeclinedError as why:
                return types.ErrorData(code=types.INVALID_PARAMS, message=str(why))
        content = None if answer.content is None else dict(answer.content)
        return types.ElicitResult(action=answer.action, content=content)

    @contextmanager
    def _paused(self) -> Iterator[None]:
        """While a person is asked: nothing is late, and nothing else is shown."""
        deadline = self._deadline
        if deadline is None:
            raise DeclinedError("nothing is called that could ask")
        self._line.clear()
        self._line.is_paused = True
        deadline.reschedule(None)
        try:
            yield
        finally:
            self._line.is_paused = False
            if deadline is self._deadline:
                now = asyncio.get_running_loop().time()
                deadline.reschedule(now + self._seconds)

    async def _asked(self, params: types.ElicitRequestParams) -> Answer:
        if isinstance(params, types.ElicitRequestURLParams):
            return await self._opened(params)
        given = params.requested_schema
        # A title of the whole form is what some servers add; it asks nothing.
        form = {key: given[key] for key in _PARTS if key in given}
        if measure_value(given).problem is not None or check_form(form):
            raise DeclinedError("the form that it asks for is none that MCP allows")
        said = (
            f"The server {self._server} asks:\n{params.message[:_MAX_SHOWN_CHARACTERS]}"
        )
        if not form["properties"]:
            return await _approved(said, {})
        filled = await ask_at_terminal(_question(said, form))
        if filled.action != "accept":
            return filled
        content = filled.content or {}
        given_lines = [f"  {name}: {json.dumps(one)}" for name, one in content.items()]
        sent = "\n".join(given_lines) or "  nothing"
        return await _approved(f"The server {self._server} is sent:\n{sent}", content)

    async def _opened(self, params: types.ElicitRequestURLParams) -> Answer:
        """A page that the person opens; what happens there is not told here."""
        if not params.url.startswith(("https://", "http://")):
            raise DeclinedError(
                "the address that it asks to open is none of a web page"
            )
        said = (
            f"The server {self._server} asks you to open this address yourself:\n"
            f"{params.url[:_MAX_SHOWN_CHARACTERS]}\n{params.message[:_MAX_SHOWN_CHARACTERS]}"
        )
        answer = await _approved(said, {})
        return Answer(answer.action)


async def _approved(said: str, content: Mapping[str, Any]) -> Answer:
    answer = await ask_at_terminal(_question(said, _YES, "approve"))
    return Answer(answer.action, content if answer.action == "accept" else None)


def _question(
    message: str, schema: Mapping[str, Any], approval: str | None = None
) -> Question:
    return Question("", message, schema, "the tool", {}, approval)

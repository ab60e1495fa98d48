"""Call a tool of an MCP server, and let the user answer the server's questions.

The questions are MCP elicitation requests, which are printed to the terminal. Their text is
untrusted: each question names the server, and an answer is sent only after the user has seen
and approved it.

Source: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
Requires `mcp`.
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
from toolcast_runtime.core.validation.limits import exceeds_path_limit, measure_value
from toolcast_runtime.external.request_errors import RequestRefusedError
from toolcast_runtime.external.session import Session, open_session

from .arguments import CallError, OfferedTools, Request, call_once

# The schema of a yes-or-no question, with which the user approves an answer.
_APPROVAL_SCHEMA = {
    "type": "object",
    "properties": {"approve": {"type": "boolean"}},
    "required": ["approve"],
}
_MAX_SHOWN_CHARACTERS = 4_000
"""Maximum number of characters of a server's message or URL that are printed."""
_FORM_KEYWORDS = ("type", "properties", "required")


def call_on_server(server: ExternalServer, request: Request) -> int:
    """Connect to a server, call a tool, and return the exit code of `call_once`.

    Tools have the local names that the server's settings define.

    Raises:
        CallError: the connection or the call fails.
    """
    owner = f"the server {escape_excerpt(server.name)}"
    try:
        resolved = resolve_server(server, os.environ)
    except MissingVariableError as error:
        raise CallError(f"{owner}: {error}") from None
    try:
        return run_sync(_call(server, resolved, request, owner))
    except (RequestRefusedError, TimeoutError) as error:
        message = escape_excerpt(redact_text(str(error), resolved.secrets), 1000)
        raise CallError(f"{owner}: {message}") from None


async def _call(
    server: ExternalServer, resolved: ResolvedServer, request: Request, owner: str
) -> int:
    """Open a session, make the call with `call_once`, and return its exit code."""
    interactive_call = _InteractiveCall(server, ProgressLine(resolved.secrets))
    # Without a terminal, no user can answer. Without a callback, the session does not declare
    # the `elicitation` capability, so that the server sends no questions.
    ask = interactive_call.ask if has_terminal() else None
    async with open_session(server, resolved, ask) as session:
        remote_names: dict[str, str] = {}
        tools: dict[str, Tool] = {}
        for definition in await session.list_tools():
            remote_name = str(definition.get("name"))
            # Two tools of the server can get the same local name; the first one is used.
            if server.is_allowed(remote_name):
                name = server.get_local_name(remote_name)
                remote_names.setdefault(name, remote_name)
                tools.setdefault(name, _build_tool(name, definition))

        async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            remote_name = remote_names[tool.name]
            result = await interactive_call.run(session, remote_name, arguments)
            problem = measure_value(result).problem
            if problem is not None:
                raise CallError(f"the tool's result has {problem}")
            redacted: Mapping[str, Any] = redact_value(result, resolved.secrets)
            return redacted

        return await call_once(OfferedTools(owner, tools, _check, call), request)


def _check(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    """Return the problems of a call's arguments."""
    schema = tool.parameters
    # The server's schema is untrusted: validating with a huge schema could take very long.
    if measure_value(dict(schema)).problem is not None or exceeds_path_limit(schema):
        return ["the tool's schema is too large to validate the arguments"]
    return Validators().check_arguments(tool, arguments)


def _build_tool(name: str, definition: Mapping[str, Any]) -> Tool:
    """Build a tool from an entry of the server's tool list.

    The summary is the first line of the description, or of the title. An invalid
    `inputSchema` is replaced by an empty schema, which allows all arguments.
    """
    description = str(definition.get("description") or definition.get("title") or "")
    lines = [line.strip() for line in description.splitlines() if line.strip()]
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict):
        schema = {}
    summary = lines[0] if lines else ""
    return Tool(name, summary, description, {**definition, "inputSchema": schema})


class _InteractiveCall:
    """A call that prints its progress, and lets the user answer the server's questions."""

    def __init__(self, server: ExternalServer, line: ProgressLine) -> None:
        self._server = escape_excerpt(server.name)
        self._seconds = server.call_timeout
        self._line = line
        self._deadline: asyncio.Timeout | None = None
        self._terminal_lock = asyncio.Lock()

    async def run(
        self, session: Session, name: str, arguments: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Make the call and return its CallToolResult.

        Raises:
            TimeoutError: no result within the server's time limit. The time in which the user
                answers questions does not count.
        """
        try:
            async with asyncio.timeout(self._seconds) as self._deadline:
                return await session.call(name, arguments, self._line)
        except TimeoutError:
            message = f"no result of the call within {self._seconds:g} s"
            raise TimeoutError(message) from None
        finally:
            self._deadline = None
            self._line.clear()

    async def ask(
        self, context: Any, params: types.ElicitRequestParams
    ) -> types.ElicitResult | types.ErrorData:
        """Let the user answer a request `elicitation/create` of the server.

        Returns an error without asking the user if the request is invalid. The signature is
        `ElicitationFnT` of the MCP SDK.
        """
        # A server can send several questions at once, but there is only one terminal.
        async with self._terminal_lock:
            try:
                with self._pause():
                    answer = await self._ask_user(params)
            except DeclinedError as error:
                return types.ErrorData(code=types.INVALID_PARAMS, message=str(error))
        content = None if answer.content is None else dict(answer.content)
        return types.ElicitResult(action=answer.action, content=content)

    @contextmanager
    def _pause(self) -> Iterator[None]:
        """Suspend the time limit and the progress line while the user answers.

        Afterwards the call has its complete time limit again.

        Raises:
            DeclinedError: no call is running.
        """
        deadline = self._deadline
        if deadline is None:
            raise DeclinedError("no call is running that could request an answer")
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

    async def _ask_user(self, params: types.ElicitRequestParams) -> Answer:
        """Ask the user to fill in a form or to open a URL, and to approve the answer.

        Raises:
            DeclinedError: the form or the URL is not valid.
        """
        if isinstance(params, types.ElicitRequestURLParams):
            return await self._ask_to_open(params)
        schema = params.requested_schema
        # Some servers add `title` to the form, which MCP does not define. Drop other keywords.
        form = {key: schema[key] for key in _FORM_KEYWORDS if key in schema}
        if measure_value(schema).problem is not None or check_form(form):
            raise DeclinedError("the requested form is not valid in MCP")
        question = params.message[:_MAX_SHOWN_CHARACTERS]
        message = f"The server {self._server} asks:\n{question}"
        if not form["properties"]:
            return await _ask_approval(message, {})
        answer = await ask_at_terminal(_build_question(message, form))
        if answer.action != "accept":
            return answer
        content = answer.content or {}
        lines = [f"  {name}: {json.dumps(value)}" for name, value in content.items()]
        values = "\n".join(lines) or "  nothing"
        message = f"This will be sent to the server {self._server}:\n{values}"
        return await _ask_approval(message, content)

    async def _ask_to_open(self, params: types.ElicitRequestURLParams) -> Answer:
        """Ask the user to open a URL in a browser; the program itself does not open it.

        As MCP requires, the answer has an action, but no content.

        Raises:
            DeclinedError: the URL has another scheme than http and https.
        """
        if not params.url.startswith(("https://", "http://")):
            raise DeclinedError("the URL to open must begin with https:// or http://")
        message = (
            f"The server {self._server} asks you to open this URL in a browser:\n"
            f"{params.url[:_MAX_SHOWN_CHARACTERS]}\n{params.message[:_MAX_SHOWN_CHARACTERS]}"
        )
        answer = await _ask_approval(message, {})
        return Answer(answer.action)


async def _ask_approval(message: str, content: Mapping[str, Any]) -> Answer:
    """Ask the user a yes-or-no question; the answer has the content only if accepted."""
    question = _build_question(message, _APPROVAL_SCHEMA, "approve")
    answer = await ask_at_terminal(question)
    return Answer(answer.action, content if answer.action == "accept" else None)


def _build_question(
    message: str, schema: Mapping[str, Any], approval: str | None = None
) -> Question:
    return Question("", message, schema, "the tool", {}, approval)

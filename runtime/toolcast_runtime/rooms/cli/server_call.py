"""The call of a tool of any MCP server.

Needs `click` and `mcp`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...core.calls.tool_validators import Validators
from ...core.calls.untrusted_text import escaped, without, without_in
from ...core.calls.work import run_sync
from ...core.context import Declined
from ...core.definitions.tool import Tool
from ...core.server_settings import ExternalServer, MissingVariableError, resolve
from ...core.validation.json_bounds import measure
from ...core.validation.schema_limits import multiplies
from ..external.sdk_logging import IS_QUIET, quieten
from .call_once import CannotCall, OfferedTools, Request, call_once
from .progress_line import ProgressLine
from .terminal import has_terminal

if TYPE_CHECKING:
    from ...core.server_settings import Resolved
    from ..external.session import Session


def call_on_server(server: ExternalServer, request: Request) -> int:
    """Calls a tool of a server, connected for this call alone; as `call_once`.

    Tools have the names that the server's settings give them.

    Raises:
        CannotCall: there is no connection, or the server refuses.
    """
    try:
        resolved = resolve(server, os.environ)
    except MissingVariableError as error:
        raise CannotCall(f"the server {escaped(server.name)}: {error}") from None
    try:
        from ..external.session import Refused
    except ImportError:
        raise CannotCall(
            "MCP servers need a package that is not installed\n"
            "  help: pip install 'toolcast-runtime[mcp]'"
        ) from None
    try:
        return run_sync(_call(server, resolved, request))
    except (Refused, TimeoutError) as error:
        told = escaped(without(str(error), resolved.secrets), 1000)
        raise CannotCall(f"the server {escaped(server.name)}: {told}") from None


async def _call(server: ExternalServer, resolved: Resolved, request: Request) -> int:
    from ..external.session import opened_session
    from .server_questions import Asking

    IS_QUIET.set(True)
    quieten()
    watched = _Watched(server.call_timeout, ProgressLine(resolved.secrets))
    ask = Asking(server.name, watched.paused) if has_terminal() else None
    async with opened_session(server, resolved, ask) as session:
        own: dict[str, str] = {}
        tools: dict[str, Tool] = {}
        for definition in await session.list_tools():
            name = str(definition.get("name"))
            if server.takes(name):
                here = server.name_here(name)
                own.setdefault(here, name)
                tools.setdefault(here, _tool(here, definition))

        async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            answer = await watched.answer(session, own[tool.name], arguments)
            problem = measure(answer).problem
            if problem is not None:
                raise CannotCall(f"the tool's answer has {problem}")
            kept: Mapping[str, Any] = without_in(answer, resolved.secrets)
            return kept

        where = f"the server {escaped(server.name)}"
        return await call_once(OfferedTools(where, tools, _problems, call), request)


class _Watched:
    """A call of which a person sees how far it is, and in which one may be asked."""

    def __init__(self, seconds: float, line: ProgressLine) -> None:
        self._seconds = seconds
        self._line = line
        self._deadline: asyncio.Timeout | None = None

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

    @contextmanager
    def paused(self) -> Iterator[None]:
        """While a person is asked, who may take as long as it takes."""
        deadline = self._deadline
        if deadline is None:
            raise Declined("nothing is called that could ask")
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


def _problems(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
    schema = tool.parameters
    if measure(dict(schema)).problem is not None or multiplies(schema):
        return ["the tool's schema is too large to check arguments by it"]
    return Validators().problems_with_arguments(tool, arguments)


def _tool(name: str, definition: Mapping[str, Any]) -> Tool:
    description = definition.get("description") or definition.get("title") or ""
    first = next((line for line in str(description).splitlines() if line.strip()), "")
    schema = definition.get("inputSchema")
    given = {**definition, "inputSchema": schema if isinstance(schema, dict) else {}}
    return Tool(name, first.strip(), str(description), given)

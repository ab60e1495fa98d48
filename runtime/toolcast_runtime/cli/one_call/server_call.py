"""The call of a tool of any MCP server.

Needs `click` and `mcp`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...calls.background_loop import run_sync
from ...calls.tool_validators import Validators
from ...calls.untrusted_text import escaped, without, without_in
from ...external.sdk_logging import IS_QUIET, quieten
from ...external.server_settings import ExternalServer, MissingVariableError, resolve
from ...tools.tool import Tool
from ...validation.json_bounds import measure
from ...validation.schema_visits import multiplies
from .call_once import CannotCall, OfferedTools, Request, call_once

if TYPE_CHECKING:
    from ...external.server_settings import Resolved
    from ...external.session import Session

__all__ = ["call_on_server"]


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
        from ...external.session import Refused
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
    from ...external.session import opened_session

    IS_QUIET.set(True)
    quieten()
    async with opened_session(server, resolved) as session:
        own: dict[str, str] = {}
        tools: dict[str, Tool] = {}
        for definition in await session.list_tools():
            name = str(definition.get("name"))
            if server.takes(name):
                here = server.name_here(name)
                own.setdefault(here, name)
                tools.setdefault(here, _tool(here, definition))

        async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            return await _answer(session, server, resolved, own[tool.name], arguments)

        where = f"the server {escaped(server.name)}"
        return await call_once(OfferedTools(where, tools, _problems, call), request)


async def _answer(
    session: Session,
    server: ExternalServer,
    resolved: Resolved,
    name: str,
    arguments: Mapping[str, Any],
) -> Mapping[str, Any]:
    try:
        async with asyncio.timeout(server.call_timeout):
            answer = await session.call(name, arguments)
    except TimeoutError:
        late = f"it did not answer the call within {server.call_timeout:g} s"
        raise TimeoutError(late) from None
    problem = measure(answer).problem
    if problem is not None:
        raise CannotCall(f"the tool's answer has {problem}")
    kept: Mapping[str, Any] = without_in(answer, resolved.secrets)
    return kept


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

"""Response to `tools/list` with exactly the definitions of the specs.

A server with tool search lists only the tools marked `always`, and its two search tools.

The SDK's models would drop unknown keys and nulls, reorder keys, and reject the whole list for one
tool. So middleware replaces the tools in the SDK's answer: with JSON text if the transport writes
`RawJson`, otherwise with plain objects. Only one thing differs from the specs: an `outputSchema`
that clients with handshake versions would reject is omitted for them.

Source: https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..core.calls.untrusted_text import escape_excerpt
from ..core.validation.protocol import (
    REVISIONS,
    check_tool_definition,
    downgrade_definition,
)
from ..stdio.framing import RawJson
from .results import is_handshake_version

if TYPE_CHECKING:
    from mcp.server.context import (
        CallNext,
        HandlerResult,
        ServerRequestContext,
    )

    from ..core.definitions.tool import Tool
    from .toolset_server import ToolsetServer

_logger = logging.getLogger("toolcast")

_MAX_CACHED_LISTS = 16
"""Maximum number of cached tool lists; the cache is then cleared."""


def make_tools_list_middleware(
    server: ToolsetServer, client: str | None, *, takes_raw_json: bool
) -> Callable[[CallNext, ServerRequestContext[Any, Any]], Awaitable[HandlerResult]]:
    """Return middleware that inserts a client's tools into the SDK's result.

    Args:
        server: the server whose tools are listed.
        client: the client that requests the list.
        takes_raw_json: whether the transport writes `RawJson` unchanged, so that a list is
            sent without building an object for each tool.
    """
    # Lists are cached by protocol generation and tool names, because callers with different
    # permissions get different lists.
    cached_lists: dict[tuple[bool, tuple[str, ...]], Any] = {}
    logged: set[tuple[str, bool]] = set()

    async def insert_tools(
        call_next: CallNext, ctx: ServerRequestContext[Any, Any]
    ) -> HandlerResult:
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        has_handshake = is_handshake_version(ctx.protocol_version)
        key = has_handshake, server.names(client)
        local_tools = cached_lists.get(key)
        if local_tools is None:
            if len(cached_lists) == _MAX_CACHED_LISTS:
                cached_lists.clear()
            local_tools = _encode_local_tools(
                server.list_directly_listed(client),
                has_handshake,
                takes_raw_json=takes_raw_json,
            )
            cached_lists[key] = local_tools
        external_tools = await server.external_tools(client, is_always=server.search)
        definitions = _filter_external_tools(external_tools, has_handshake, logged)
        return {**result, "tools": _append_tools(local_tools, definitions)}

    return insert_tools


def _encode_local_tools(
    tools: list[Tool], has_handshake: bool, *, takes_raw_json: bool
) -> RawJson | list[Mapping[str, Any]]:
    if not takes_raw_json:
        return [_adapt_definition(tool.definition, has_handshake) for tool in tools]
    texts = []
    for tool in tools:
        is_unchanged = (
            _adapt_definition(tool.definition, has_handshake) is tool.definition
        )
        texts.append(tool.to_mcp_json(omit=None if is_unchanged else "outputSchema"))
    return RawJson(b"[" + b",".join(texts) + b"]")


def _filter_external_tools(
    tools: list[Tool], has_handshake: bool, logged: set[tuple[str, bool]]
) -> list[Mapping[str, Any]]:
    """Return the definitions of external tools that strict clients accept; log the others.

    The rules report such definitions only for local tools, which have specs.

    Args:
        tools: the tools of external servers.
        has_handshake: whether the client uses a handshake version.
        logged: the tools that are already logged; updated.
    """
    accepted = []
    for tool in tools:
        definition = _adapt_definition(tool.definition, has_handshake)
        problems = check_tool_definition(
            definition, REVISIONS[0 if has_handshake else -1]
        )
        if not problems:
            accepted.append(definition)
        elif (tool.name, has_handshake) not in logged:
            logged.add((tool.name, has_handshake))
            problem = escape_excerpt(f"`{problems[0].path_text}` {problems[0].problem}")
            _logger.warning("%s is not listed: clients reject %s", tool.name, problem)
    return accepted


def _adapt_definition(
    definition: Mapping[str, Any], has_handshake: bool
) -> Mapping[str, Any]:
    return downgrade_definition(definition) if has_handshake else definition


def _append_tools(local_tools: Any, external_tools: list[Mapping[str, Any]]) -> Any:
    """Return the local and the external tools, in the form of the local list."""
    if not external_tools:
        return local_tools
    if not isinstance(local_tools, RawJson):
        return [*local_tools, *external_tools]
    text = json.dumps(external_tools, ensure_ascii=False).encode("utf-8")
    if local_tools.text == b"[]":
        return RawJson(text)
    # Join the two arrays as JSON text, because the local list is never parsed.
    return RawJson(local_tools.text[:-1] + b"," + text[1:])

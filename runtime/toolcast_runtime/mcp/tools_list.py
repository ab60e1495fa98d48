"""The answer to `tools/list`: the tools exactly as the specs have them.

A server whose tools are searched for lists those of every turn alone, and two of its own.

The SDK's models drop unknown keys and nulls, change the order of keys, and refuse the whole
list for one tool. So its answer gets its tools behind the models, in the SDK's middleware: as
JSON text where the transport writes `RawJson`, else as plain objects. One thing is not as in the
specs: clients before 2026-07-28 are not shown an `outputSchema` that they would refuse.

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
from .results import is_before_2026

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
"""Tool lists that are cached."""


def exact_tools(
    served: ToolsetServer, client: str | None, *, takes_raw_json: bool
) -> Callable[[CallNext, ServerRequestContext[Any, Any]], Awaitable[HandlerResult]]:
    """What puts a client's tools into the answer that the SDK would give.

    Args:
        served: whose tools.
        client: who is served.
        takes_raw_json: the transport writes `RawJson` as it is, so that a list is sent
            without one object being built for it.
    """
    # Callers with other permissions are shown other lists.
    shown: dict[tuple[bool, tuple[str, ...]], Any] = {}
    left_out: set[tuple[str, bool]] = set()

    async def put_in(
        call_next: CallNext, ctx: ServerRequestContext[Any, Any]
    ) -> HandlerResult:
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        old = is_before_2026(ctx.protocol_version)
        present = served.names(client)
        local = shown.get((old, present))
        if local is None:
            if len(shown) == _MAX_CACHED_LISTS:
                shown.clear()
            local = _local(served.listed(client), old, takes_raw_json=takes_raw_json)
            shown[old, present] = local
        external = await served.external_tools(client, is_always=served.search)
        return {
            **result,
            "tools": _with(local, _taken(external, old, left_out)),
        }

    return put_in


def _local(
    tools: list[Tool], old: bool, *, takes_raw_json: bool
) -> RawJson | list[Mapping[str, Any]]:
    if not takes_raw_json:
        return [_shown(tool.definition, old) for tool in tools]
    texts = []
    for tool in tools:
        is_whole = _shown(tool.definition, old) is tool.definition
        texts.append(tool.to_mcp_json(omit=None if is_whole else "outputSchema"))
    return RawJson(b"[" + b",".join(texts) + b"]")


def _taken(
    external: list[Tool], old: bool, left_out: set[tuple[str, bool]]
) -> list[Mapping[str, Any]]:
    """External tools that strict clients of an era take; no spec could warn of the others.

    Args:
        external: the tools, of strangers.
        old: the client speaks a revision before 2026-07-28.
        left_out: what has been logged already, which is added to.
    """
    taken = []
    for tool in external:
        shown = _shown(tool.definition, old)
        refusals = check_tool_definition(shown, REVISIONS[0 if old else -1])
        if not refusals:
            taken.append(shown)
        elif (tool.name, old) not in left_out:
            left_out.add((tool.name, old))
            why = escape_excerpt(f"`{refusals[0].path_text}` {refusals[0].problem}")
            _logger.warning("%s is not listed: clients refuse %s", tool.name, why)
    return taken


def _shown(definition: Mapping[str, Any], old: bool) -> Mapping[str, Any]:
    return downgrade_definition(definition) if old else definition


def _with(own: Any, further: list[Mapping[str, Any]]) -> Any:
    """A list of tools and further ones, as JSON text where the list is."""
    if not further:
        return own
    if not isinstance(own, RawJson):
        return [*own, *further]
    text = json.dumps(further, ensure_ascii=False).encode("utf-8")
    return RawJson(text if own.text == b"[]" else own.text[:-1] + b"," + text[1:])

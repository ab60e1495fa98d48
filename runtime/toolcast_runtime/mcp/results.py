"""What answers are made of: results of tools, texts that can be sent, lists of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import ServerRequestContext

    from ..core.context import ToolResponse
    from .request_state import StateSealer


def call_result(
    response: ToolResponse, *, structured: bool, send: str = "both"
) -> types.CallToolResult:
    """The CallToolResult of a response.

    Args:
        response: what the tool answered.
        structured: its result is sent as a value, too, besides its text.
        send: `structured` for no text where it is a value, and `text` for its text in any case.
    """
    if response.error is not None and response.content is None:
        return failure(response.error)
    value = response.result if structured else None
    is_alone = value is not None and send == "structured"
    note = [] if response.note is None else [response.note]
    if response.content is None:
        texts = [*([] if is_alone else [response.text()]), *note]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in texts],
            structured_content=value,
        )
    content = [dict(block) for block in response.content]
    others = [block for block in content if block["type"] != "text"]
    if is_alone and response.error is None:
        content = others
    elif send == "text" and content == others and response.result not in (None, others):
        # No block has the result, which is none where blocks are all of it.
        content.insert(0, {"type": "text", "text": response.text()})
    content += [{"type": "text", "text": text} for text in note]
    result = {"content": content, "structuredContent": value}
    if response.error is not None:
        result["isError"] = True
    return types.CallToolResult.model_validate(result)


def failure(text: str) -> types.CallToolResult:
    """The CallToolResult of a failure that the model is told in these words."""
    block = types.TextContent(type="text", text=sendable(text))
    return types.CallToolResult(content=[block], is_error=True)


def sendable(text: str) -> str:
    """The text with lone surrogates spelled out: the SDK never answers with one."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_before_2026(revision: str) -> bool:
    """Whether a client speaks a revision that begins with a handshake."""
    return revision in HANDSHAKE_PROTOCOL_VERSIONS


async def through_seal(
    seal: Callable[[], StateSealer],
    context: ServerRequestContext[Any, Any],
    state: str | None,
    answer: Callable[[str | None], Awaitable[Any]],
) -> Any:
    """What a request is answered, with its state opened before and sealed after.

    Args:
        seal: gives what seals; nothing does where no person is asked.
        context: the request's.
        state: what the request brings; None when it brings none.
        answer: gives the answer, from the opened state.

    Raises:
        MCPError: the request's state is not what this server gave out for it.
    """
    if state is not None:
        return await seal().opened(context, answer)
    result = await answer(None)
    if getattr(result, "result_type", None) == "input_required":
        return await seal().sealed(context, result)
    return result


def refuse_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Each list has one page.

    Raises:
        MCPError: another one is asked for.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: there is one page")

"""Results of MCP requests, and handling of the state of repeated requests."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

NULL_RESULT: ContextVar[bool] = ContextVar("toolcast_null_result", default=False)
"""Whether the structured content of the current call is null.

The SDK's models omit it, so that the server's middleware adds it to the result.
"""

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server import ServerRequestContext

    from ..core.context import ToolResponse
    from .request_state import StateSealer


def build_call_result(
    response: ToolResponse, *, structured: bool, send: str = "both"
) -> types.CallToolResult:
    """Return the `CallToolResult` of a tool's response.

    Args:
        response: the response to the call.
        structured: whether the result is also sent as `structuredContent`.
        send: `structured` omits the text if there is structured content; `text` sends the
            result as text in any case.
    """
    if response.error is not None and response.content is None:
        return build_error_result(response.error)
    value = response.result if structured else None
    if structured and value is None and response.error is None:
        NULL_RESULT.set(True)
    is_structured_only = structured and send == "structured"
    note = [] if response.note is None else [response.note]
    if response.content is None:
        texts = [response.text()] if response.texts is None else response.texts
        texts = [*([] if is_structured_only else texts), *note]
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in texts],
            structured_content=value,
        )
    content = [dict(block) for block in response.content]
    media = [block for block in content if block["type"] != "text"]
    if is_structured_only and response.error is None:
        content = media
    elif send == "text" and content == media and response.result not in (None, media):
        # The blocks are only media, and the response also has a result: add its text, because
        # structured content is not sent.
        content.insert(0, {"type": "text", "text": response.text()})
    content += [{"type": "text", "text": text} for text in note]
    result = {"content": content, "structuredContent": value}
    if response.error is not None:
        result["isError"] = True
    return types.CallToolResult.model_validate(result)


def build_error_result(text: str) -> types.CallToolResult:
    """Return the `CallToolResult` of a failed call, with a message for the model."""
    block = types.TextContent(type="text", text=escape_surrogates(text))
    return types.CallToolResult(content=[block], is_error=True)


def escape_surrogates(text: str) -> str:
    """Return text with lone surrogates as escapes, because the SDK cannot send them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_handshake_version(version: str) -> bool:
    """Return whether a protocol version begins with an initialize handshake."""
    return version in HANDSHAKE_PROTOCOL_VERSIONS


async def answer_with_state(
    get_sealer: Callable[[], StateSealer],
    context: ServerRequestContext[Any, Any],
    state: str | None,
    answer: Callable[[str | None], Awaitable[Any]],
) -> Any:
    """Answer a request: unseal its state before, and seal the state of the result after.

    Args:
        get_sealer: returns the sealer; called only if there is state.
        context: the context of the request.
        state: the sealed state that the request contains; None if there is none.
        answer: returns the result, from the unsealed state.

    Raises:
        MCPError: this server did not issue the state for this request.
    """
    if state is not None:
        return await get_sealer().answer_with_opened_state(context, answer)
    result = await answer(None)
    if getattr(result, "result_type", None) == "input_required":
        return await get_sealer().seal_result(context, result)
    return result


def reject_cursor(params: types.PaginatedRequestParams | None) -> None:
    """Raise if a request has a cursor: every list consists of one page.

    Raises:
        MCPError: the request has a cursor.
    """
    if params is not None and params.cursor is not None:
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor: the list has one page")

"""What a resource holds and what a prompt says, of their definitions and handlers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.context import ToolError, ToolResponse
from .content_blocks import resource_contents

if TYPE_CHECKING:
    from ...core.calls.tool_calls import ToolCalls
    from ...core.context import CallContext
    from .definitions_of_mcp import McpPrompt, McpResource

_PLACE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")

_MOST_SHOWN = 20
"""Of the values that an argument may have."""


class Failed(Exception):
    """A handler gave no answer that can be sent; the text may be read by the caller."""


async def contents_of(
    resource: McpResource,
    uri: str,
    variables: Mapping[str, str],
    calls: ToolCalls,
    context: CallContext,
) -> dict[str, Any] | None:
    """The contents of a resource, as `resources/read` sends them; None when there is none.

    Args:
        resource: whose.
        uri: that was asked for.
        variables: of its template.
        calls: runs handlers.
        context: the request's.

    Raises:
        Failed: the handler failed.
    """
    mime_type = resource.definition.get("mimeType")
    if resource.handler is None:
        held = resource.held or {}
        default = "text/plain" if "text" in held else "application/octet-stream"
        return {"uri": uri, "mimeType": mime_type or default, **held}

    def shaped(given: Any) -> ToolResponse:
        if given is None:
            return ToolResponse(None)
        if not isinstance(given, str | bytes):
            raise ToolError("the resource's handler gave neither text nor bytes")
        contents = resource_contents(uri, given, mime_type)
        return ToolResponse(content=[{"type": "resource", "resource": contents}])

    response, _ = await calls.run_handler(resource.handler, variables, context, shaped)
    if response.error is not None:
        raise Failed(response.error)
    return dict(response.content[0]["resource"]) if response.content else None


async def messages_of(
    prompt: McpPrompt,
    arguments: Mapping[str, str],
    calls: ToolCalls,
    context: CallContext,
) -> list[dict[str, Any]]:
    """The messages of a prompt, as `prompts/get` sends them.

    The places of arguments in its texts are filled, once: what is filled in is text.

    Raises:
        Failed: the handler failed.
    """
    if prompt.handler is None:
        return [
            {
                "role": message["role"],
                "content": {
                    "type": "text",
                    "text": _filled(message["text"], arguments),
                },
            }
            for message in prompt.held or ()
        ]
    response, _ = await calls.run_handler(prompt.handler, arguments, context, _said)
    if response.error is not None:
        raise Failed(response.error)
    roles = response.result
    blocks = response.content or ()
    return [
        {"role": role, "content": block}
        for role, block in zip(roles, blocks, strict=True)
    ]


def problems_with_arguments(
    prompt: McpPrompt, arguments: Mapping[str, str]
) -> list[str]:
    """What is wrong with the arguments of a prompt; empty when nothing is."""
    declared = {one["name"]: one for one in prompt.definition.get("arguments", ())}
    problems = [
        f"`{name}` is no argument" for name in arguments if name not in declared
    ]
    for name, about in declared.items():
        if name not in arguments:
            if about.get("required"):
                problems.append(f"`{name}` is missing")
        elif name in prompt.values and arguments[name] not in prompt.values[name]:
            values = prompt.values[name]
            shown = ", ".join(values[:_MOST_SHOWN])
            more = len(values) - _MOST_SHOWN
            rest = f" and {more} more" if more > 0 else ""
            problems.append(f"`{name}` must be one of {shown}{rest}")
    return problems


def _filled(text: str, arguments: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda place: arguments.get(place[1], ""), text)


def _said(given: Any) -> ToolResponse:
    """The messages of a handler: a text, a block, or a list of these and of messages.

    They are checked as blocks of content, with their roles beside them.
    """
    roles, blocks = [], []
    for one in given if isinstance(given, list | tuple) else [given]:
        role, content = "user", one
        if isinstance(one, Mapping) and "role" in one:
            role, content = one["role"], one.get("content")
        if role not in ("user", "assistant"):
            raise ToolError("the prompt's handler gave a message of another role")
        if isinstance(content, str):
            content = {"type": "text", "text": content}
        roles.append(role)
        blocks.append(content)
    if not blocks:
        raise ToolError("the prompt's handler gave no message")
    return ToolResponse(roles, content=blocks)

"""What MCP clients are offered beside tools: resources and prompts, and what they give.

The folders `mcp_resources/` and `mcp_prompts/` of a generated package define them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.context import ToolError, ToolResponse
from ..core.definitions.definitions import DefinitionError
from ..core.definitions.tool import Tool, module_name
from .content_blocks import resource_contents

if TYPE_CHECKING:
    from types import ModuleType

    from ..core.calls.tool_calls import ToolCalls
    from ..core.context import CallContext

_PLACE = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")
_MAX_VALUES_SHOWN = 20
"""Allowed values of an argument that a message lists."""
_SIGNATURE = re.compile(r"by Toolcast from (?:.*/)?([^/]+)\.yaml\. DO NOT EDIT\.")


class HandlerResultError(Exception):
    """Handler result that cannot be sent; the message may be shown to the caller."""


@dataclass(frozen=True, slots=True)
class McpOffer:
    """A resource with a `uri`, a template of resources with a `uriTemplate`, or a prompt.

    Attributes:
        name: its name.
        definition: as MCP lists it.
        held: of a resource its `text` or `blob`; of a prompt the `role` and `text` of each
            message, with `{{argument}}` in it; None when a handler gives it.
        handler: its handler as a tool, whose parameters are the variables or arguments.
        values: the only values of variables or arguments that have some.
        clients: who may have it; nobody else in a toolset with clients.
    """

    name: str
    definition: Mapping[str, Any]
    held: Any = None
    handler: Tool | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()


def read_resources(package: ModuleType | None) -> tuple[McpOffer, ...]:
    """The resources of a generated `mcp_resources`, by their file names.

    Raises:
        DefinitionError: one is not what was generated.
    """
    return _read(package, "resource", _contents)


def read_prompts(package: ModuleType | None) -> tuple[McpOffer, ...]:
    """The prompts of a generated `mcp_prompts`; raises as `read_resources`."""
    return _read(package, "prompt", lambda value: value.get("messages"))


def _read(
    package: ModuleType | None, kind: str, held: Callable[[Mapping[str, Any]], Any]
) -> tuple[McpOffer, ...]:
    if package is None:
        return ()
    from importlib.resources import files

    found = []
    entries = {entry.name: entry for entry in files(package).iterdir()}
    for name in sorted(name for name in entries if name.endswith(".json")):
        try:
            value = json.loads(entries[name].read_bytes())
            signed = _SIGNATURE.fullmatch(value["generated"])
            own = value["mcp"]["name"]
            if signed is None or {signed[1], name} != {own, f"{module_name(own)}.json"}:
                raise ValueError("its signature, its name and its file do not agree")
            offer = McpOffer(
                own,
                value["mcp"],
                held(value),
                _handler(kind, value),
                value.get("values", {}),
                tuple(value.get("clients", ())),
            )
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DefinitionError(
                f"{package.__name__} cannot be loaded; `toolcast generate` writes it"
                f" again:\n- {name} is no definition of a {kind}: {error}"
            ) from None
        found.append(offer)
    if not found:
        raise DefinitionError(
            f"{package.__name__} has no {kind}: the definitions have to be installed, too"
        )
    return tuple(found)


def _contents(value: Mapping[str, Any]) -> Mapping[str, str] | None:
    if "uri" not in value["mcp"] and "uriTemplate" not in value["mcp"]:
        raise ValueError("it has no URI")
    return {key: value[key] for key in ("text", "blob") if key in value} or None


def _handler(kind: str, value: Mapping[str, Any]) -> Tool | None:
    """What runs the handler: a tool of a name that no tool can have."""
    if "handler" not in value:
        return None
    declared = {name: {"type": "string"} for name in value["parameters"]}
    return Tool(
        name=f"{kind} {value['mcp']['name']}",
        summary="",
        description="",
        definition={"inputSchema": {"type": "object", "properties": declared}},
        handler=value["handler"],
        timeout=value["timeout"],
        uses=tuple(value.get("uses", ())),
        kind=kind,
    )


async def contents_of(
    resource: McpOffer,
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
        HandlerResultError: the handler failed.
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
        raise HandlerResultError(response.error)
    return dict(response.content[0]["resource"]) if response.content else None


async def messages_of(
    prompt: McpOffer,
    arguments: Mapping[str, str],
    calls: ToolCalls,
    context: CallContext,
) -> list[dict[str, Any]]:
    """The messages of a prompt, as `prompts/get` sends them.

    The places of arguments in its texts are filled, once: what is filled in is text.

    Raises:
        HandlerResultError: the handler failed.
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
        raise HandlerResultError(response.error)
    roles = response.result
    blocks = response.content or ()
    return [
        {"role": role, "content": block}
        for role, block in zip(roles, blocks, strict=True)
    ]


def problems_with_arguments(
    prompt: McpOffer, arguments: Mapping[str, str]
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
            shown = ", ".join(values[:_MAX_VALUES_SHOWN])
            more = len(values) - _MAX_VALUES_SHOWN
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

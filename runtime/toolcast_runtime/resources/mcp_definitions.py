"""Resources and MCP prompts: their definitions, and the contents that MCP clients receive.

The packages `mcp_resources` and `mcp_prompts` of a generated package contain the definitions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.context import Block, ToolError, ToolResponse
from ..core.definitions.definitions import DefinitionError, require_pydantic
from ..core.definitions.tool import Tool, module_name
from .content_blocks import build_resource_contents

if TYPE_CHECKING:
    from types import ModuleType

    from ..core.calls.tool_calls import ToolCalls
    from ..core.context import CallContext

_PLACEHOLDER = re.compile(r"\{\{ *([A-Za-z_][A-Za-z0-9_]*) *\}\}")
_MAX_VALUES_SHOWN = 20
"""Maximum number of allowed values that an error message lists."""
_SIGNATURE = re.compile(r"by Toolcast from (?:.*/)?([^/]+)\.yaml\. DO NOT EDIT\.")


class HandlerResultError(Exception):
    """Handler result that cannot be sent; the message may be shown to the caller."""


@dataclass(frozen=True, slots=True)
class ResourceOrPrompt:
    """Definition of a resource, a resource template or an MCP prompt.

    The MCP definition of a resource has `uri`, that of a resource template `uriTemplate`.

    Attributes:
        name: the name of the spec; the listed name is in the definition.
        definition: the MCP definition, as listed.
        static_content: for a resource, its `text` or `blob`; for a prompt, the `role` and
            `text` of each message, with `{{argument}}` placeholders; None if a handler
            provides the content.
        handler: the handler as a tool, with the variables or arguments as its parameters.
        values: the allowed values of variables or arguments, where they are restricted.
        clients: the clients that may read it, in a toolset with clients.
    """

    name: str
    definition: Mapping[str, Any]
    static_content: Any = None
    handler: Tool | None = None
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)
    clients: tuple[str, ...] = ()


def read_resources(package: ModuleType | None) -> tuple[ResourceOrPrompt, ...]:
    """Read the resources of a generated package, sorted by `order`, then by file name.

    Resources without `order` are last. Returns an empty tuple if `package` is None.

    Raises:
        DefinitionError: the package is empty, or a file differs from the generated one.
    """
    return _read_definitions(package, "resource", _static_contents)


def read_prompts(package: ModuleType | None) -> tuple[ResourceOrPrompt, ...]:
    """Read the MCP prompts of a generated package, in the order of `read_resources`.

    Raises:
        DefinitionError: the package is empty, or a file differs from the generated one.
    """
    return _read_definitions(package, "prompt", lambda value: value.get("messages"))


def _read_definitions(
    package: ModuleType | None,
    kind: str,
    get_static_content: Callable[[Mapping[str, Any]], Any],
) -> tuple[ResourceOrPrompt, ...]:
    if package is None:
        return ()
    from importlib.resources import files

    definitions: list[tuple[tuple[bool, int], ResourceOrPrompt]] = []
    entries = {entry.name: entry for entry in files(package).iterdir()}
    for file_name in sorted(name for name in entries if name.endswith(".json")):
        try:
            value = json.loads(entries[file_name].read_bytes())
            signature = _SIGNATURE.fullmatch(value["generated"])
            name = value.get("name", value["mcp"]["name"])
            # The signature names the spec, so that a renamed or copied file is detected.
            expected = {name, f"{module_name(name)}.json"}
            if signature is None or {signature[1], file_name} != expected:
                raise ValueError(
                    "`generated`, `name` and the file name must contain the same name"
                )
            definition = ResourceOrPrompt(
                name,
                value["mcp"],
                get_static_content(value),
                _build_handler(f"{kind} {name}", kind, value),
                value.get("values", {}),
                tuple(value.get("clients", ())),
            )
            # Entries without `order` come last, because False sorts before True.
            position = "order" not in value, int(value.get("order", 0))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise DefinitionError(
                f"{package.__name__} cannot be loaded; help: run `toolcast generate`"
                f"\n- {file_name} is not a definition of a {kind}: {error}"
            ) from None
        definitions.append((position, definition))
    handlers = [d.handler for _, d in definitions if d.handler is not None]
    require_pydantic(package.__name__, handlers)
    if not definitions:
        raise DefinitionError(
            f"{package.__name__} contains no {kind}; help: install the package with its"
            " .json files"
        )
    definitions.sort(key=lambda pair: pair[0])
    return tuple(definition for _, definition in definitions)


def _static_contents(value: Mapping[str, Any]) -> Mapping[str, str] | None:
    if "uri" not in value["mcp"] and "uriTemplate" not in value["mcp"]:
        raise ValueError("it has no URI")
    return {key: value[key] for key in ("text", "blob") if key in value} or None


def _build_handler(name: str, kind: str, value: Mapping[str, Any]) -> Tool | None:
    """Return the handler of a resource or prompt as a tool; None without a handler.

    The tool's name contains a space, which names of other tools cannot contain.
    """
    if "handler" not in value:
        return None
    properties = {name: {"type": "string"} for name in value["parameters"]}
    return Tool(
        name=name,
        summary="",
        description="",
        definition={
            "inputSchema": {"type": "object", "properties": properties},
            "_meta": value["mcp"].get("_meta"),
        },
        handler=value["handler"],
        timeout=value["timeout"],
        uses=tuple(value.get("uses", ())),
        has_pydantic_values=value.get("value_types") == "pydantic",
        kind=kind,
    )


async def read_contents(
    resource: ResourceOrPrompt,
    uri: str,
    variables: Mapping[str, str],
    calls: ToolCalls,
    context: CallContext,
) -> dict[str, Any] | None:
    """Return the contents of a resource for `resources/read`; run its handler if it has one.

    None if the handler returns None, which means that the resource does not exist.

    Args:
        resource: the resource or template.
        uri: the requested URI.
        variables: the values of the template's variables.
        calls: runs the handler.
        context: the context of the request.

    Raises:
        HandlerResultError: the handler failed.
    """
    mime_type = resource.definition.get("mimeType")
    if resource.handler is None:
        content = resource.static_content or {}
        default = "text/plain" if "text" in content else "application/octet-stream"
        return {"uri": uri, "mimeType": mime_type or default, **content}

    def build_response(result: Any) -> ToolResponse:
        if result is None:
            return ToolResponse(None)
        if isinstance(result, Block):
            contents = {**result["resource"], "uri": uri}
        elif isinstance(result, str | bytes):
            contents = build_resource_contents(uri, result, mime_type)
        else:
            raise ToolError("the resource's handler returned neither str nor bytes")
        return ToolResponse(content=[{"type": "resource", "resource": contents}])

    response, _ = await calls.run_handler(
        resource.handler, variables, context, build_response
    )
    if response.error is not None:
        raise HandlerResultError(response.error)
    return dict(response.content[0]["resource"]) if response.content else None


async def build_messages(
    prompt: ResourceOrPrompt,
    arguments: Mapping[str, str],
    calls: ToolCalls,
    context: CallContext,
) -> list[dict[str, Any]]:
    """Return the messages of a prompt for `prompts/get`; run its handler if it has one.

    Placeholders in static messages are replaced once: placeholders in arguments remain text.

    Raises:
        HandlerResultError: the handler failed.
    """
    if prompt.handler is None:
        return [
            {
                "role": message["role"],
                "content": {
                    "type": "text",
                    "text": _fill_placeholders(message["text"], arguments),
                },
            }
            for message in prompt.static_content or ()
        ]
    response, _ = await calls.run_handler(
        prompt.handler, arguments, context, _shape_prompt_result
    )
    if response.error is not None:
        raise HandlerResultError(response.error)
    roles = response.result
    blocks = response.content or ()
    return [
        {"role": role, "content": block}
        for role, block in zip(roles, blocks, strict=True)
    ]


def check_prompt_arguments(
    prompt: ResourceOrPrompt, arguments: Mapping[str, str]
) -> list[str]:
    """Return a message for each unknown, missing or disallowed argument of a prompt."""
    declared = {
        argument["name"]: argument
        for argument in prompt.definition.get("arguments", ())
    }
    problems = [
        f"`{name}` is not an argument of the prompt"
        for name in arguments
        if name not in declared
    ]
    for name, argument in declared.items():
        if name not in arguments:
            if argument.get("required"):
                problems.append(f"`{name}` is missing")
        elif name in prompt.values and arguments[name] not in prompt.values[name]:
            values = prompt.values[name]
            first_values = ", ".join(values[:_MAX_VALUES_SHOWN])
            more = len(values) - _MAX_VALUES_SHOWN
            rest = f" and {more} more" if more > 0 else ""
            problems.append(f"`{name}` must be one of {first_values}{rest}")
    return problems


def _fill_placeholders(text: str, arguments: Mapping[str, str]) -> str:
    # Replace all placeholders in one pass, so that placeholders in argument values stay text.
    return _PLACEHOLDER.sub(lambda match: arguments.get(match[1], ""), text)


def _shape_prompt_result(result: Any) -> ToolResponse:
    """Convert a prompt handler's result: a string, block or message, or a list of them.

    The response contains each message's content as a content block, so that it is validated,
    and the list of roles as the result. A message without a role has the role `user`.

    Raises:
        ToolError: the result has another type or role, or contains no message.
    """
    roles, blocks = [], []
    for message in result if isinstance(result, list | tuple) else [result]:
        role, content = "user", message
        if isinstance(message, Mapping) and "role" in message:
            role, content = message["role"], message.get("content")
        if role not in ("user", "assistant"):
            raise ToolError(
                "the prompt's handler returned a message with a role other than `user` and"
                " `assistant`"
            )
        if isinstance(content, str):
            content = {"type": "text", "text": content}
        elif not isinstance(content, Mapping):
            raise ToolError(
                f"the prompt's handler returned `{type(content).__name__}` instead of a"
                " string, a content block or a message"
            )
        roles.append(role)
        blocks.append(content)
    if not blocks:
        raise ToolError("the prompt's handler returned no message")
    return ToolResponse(roles, content=blocks)

"""Results of handlers that were written for FastMCP or the official SDK.

MCP clients get the content and the structured content that the function's own server sends. A
definition from a FastMCP server has `_meta.fastmcp`; all others follow the official SDK. Both
libraries are read from `sys.modules`: an object of theirs exists only if they are imported.

Sources: fastmcp 4.2.3, `fastmcp/tools/base.py`; mcp 2.3.0, `mcpserver/utilities/func_metadata.py`
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_origin, get_type_hints, is_typeddict

import pydantic
from pydantic_core import (
    PydanticSerializationError,
    SchemaSerializer,
    to_json,
    to_jsonable_python,
)

from ..core.context import Block, ToolError, ToolResponse
from ..core.definitions.tool import Tool

Library = Literal["fastmcp", "mcp"]

_ERRORS = {
    (module, name)
    for module in ("fastmcp.exceptions", "mcp.server.mcpserver.exceptions")
    for name in (
        "ToolError",
        "ResourceError",
        "PromptError",
        "NotFoundError",
        "ResourceNotFoundError",
    )
} | {("mcp.shared.exceptions", "MCPError")}
"""Exceptions whose message their libraries send to the caller."""


def translate_error(error: Exception) -> Exception:
    """Return the `ToolError` for an exception that a library sends; others unchanged."""
    types = {(base.__module__, base.__name__) for base in type(error).__mro__}
    is_sent = not _ERRORS.isdisjoint(types)
    return ToolError(str(error)) if is_sent else error


def build_converter(tool: Tool, annotation: Any) -> Callable[[Any], Any]:
    """Return the function that converts the values that a handler returns.

    Args:
        tool: the tool, or a resource or prompt as a tool.
        annotation: the annotation of the handler's return value.
    """
    library: Library = "fastmcp" if tool.has_fastmcp_results else "mcp"
    if tool.kind == "resource":
        return _convert_resource if library == "fastmcp" else _convert_sdk_resource
    if tool.kind == "prompt":
        return _convert_prompt
    if library == "fastmcp":
        return _FastMcpResults(tool, annotation)
    return _SdkResults(tool, annotation)


class _FastMcpResults:
    """Converts results as FastMCP's `Tool.convert_result` does."""

    def __init__(self, tool: Tool, annotation: Any) -> None:
        self._schema = tool.definition.get("outputSchema")
        self._wraps = bool((self._schema or {}).get("x-fastmcp-wrap-result"))
        self._serializer = _build_serializer(annotation)

    def __call__(self, value: Any) -> ToolResponse:
        if _is_mcp_result(value):
            return _convert_mcp_result(value)
        blocks = _find_blocks(value, _to_compact_json)
        if blocks is not None and self._schema is None:
            return ToolResponse(content=blocks)
        if isinstance(value, bytes):
            return ToolResponse(None, texts=[_decode(value)])
        try:
            result = json.loads(self._serializer.to_json(value))
        except PydanticSerializationError:
            if self._schema is not None:
                raise
            return ToolResponse(None, texts=[_to_compact_json(value)])
        wrapped = {"result": result} if self._wraps else result
        if blocks is not None:
            return ToolResponse(wrapped, content=blocks)
        texts = [] if result in (None, []) else [_to_compact_json(result)]
        return ToolResponse(wrapped, texts=texts)


class _SdkResults:
    """Converts results as the official SDK's `FuncMetadata.convert_result` does."""

    def __init__(self, tool: Tool, annotation: Any) -> None:
        schema = tool.definition.get("outputSchema")
        self._adapter = None if schema is None else _build_adapter(annotation)
        names = schema.get("properties", ()) if isinstance(schema, Mapping) else ()
        self._wraps = set(names) == {"result"} and not _is_object_class(annotation)

    def __call__(self, value: Any) -> ToolResponse:
        if _is_mcp_result(value):
            return _convert_mcp_result(value)
        items = list(_flatten(value))
        if self._adapter is None:
            result = to_jsonable_python(value, fallback=str)
        else:
            valid = self._adapter.validate_python(value, by_alias=True, by_name=True)
            # A returned subclass has fields of its own.
            if isinstance(valid, pydantic.BaseModel):
                result = valid.model_dump(mode="json", by_alias=True)
            else:
                result = self._adapter.dump_python(valid, mode="json", by_alias=True)
            result = {"result": result} if self._wraps else result
        texts = [item for item in items if isinstance(item, str)]
        if len(texts) == len(items):
            return ToolResponse(result, texts=texts)
        blocks = [_text_block(i) if isinstance(i, str) else i for i in items]
        return ToolResponse(None if self._adapter is None else result, content=blocks)


def _flatten(value: Any) -> Iterator[str | Block]:
    """Yield the texts and blocks by which the SDK sends a value."""
    block = _find_block(value)
    if block is not None:
        yield block
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flatten(item)
    elif value is not None:
        is_text = isinstance(value, str)
        yield value if is_text else to_json(value, fallback=str, indent=2).decode()


def _find_blocks(
    value: Any, format_text: Callable[[Any], str]
) -> list[dict[str, Any]] | None:
    """Return the blocks of a value with a block or media in it; None for other values."""
    if not isinstance(value, list | tuple):
        block = _find_block(value)
        return None if block is None else [block]
    blocks = [_find_block(item) for item in value]
    if not any(blocks):
        return None
    return [
        _text_block(format_text(item)) if block is None else block
        for item, block in zip(value, blocks, strict=True)
    ]


def _find_block(value: Any) -> Block | None:
    """Return the content block of a block or of an `Image`, `Audio` or `File`."""
    for method in ("to_image_content", "to_audio_content", "to_resource_content"):
        if hasattr(type(value), method):
            value = getattr(value, method)()
    types = sys.modules.get("mcp_types")
    if isinstance(value, Block):
        return value
    if types is not None and isinstance(value, types.ContentBlock):
        return Block(value.model_dump(by_alias=True, mode="json", exclude_none=True))
    return None


def _text_block(text: str) -> Block:
    return Block(type="text", text=text)


def _to_compact_json(value: Any) -> str:
    """Return a string unchanged, bytes decoded, and every other value as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return _decode(value)
    return to_json(value, fallback=str).decode()


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        import base64

        return base64.b64encode(value).decode("ascii")


def _is_mcp_result(value: Any) -> bool:
    """Return whether a value is FastMCP's `ToolResult` or MCP's `CallToolResult`."""
    return hasattr(value, "structured_content") and hasattr(value, "content")


def _convert_mcp_result(value: Any) -> ToolResponse:
    blocks = [_find_block(block) for block in value.content]
    content = [block for block in blocks if block is not None]
    if not value.is_error:
        return ToolResponse(value.structured_content, content=content)
    text = "\n".join(block["text"] for block in content if block["type"] == "text")
    return ToolResponse(
        value.structured_content, text or "the tool failed", content=content
    )


@cache
def _build_serializer(annotation: Any) -> SchemaSerializer:
    """Return the serializer of a return annotation, which keeps NaN so that it is refused."""
    try:
        adapter = pydantic.TypeAdapter(annotation)
    except pydantic.PydanticSchemaGenerationError:
        adapter = pydantic.TypeAdapter(Any)
    return SchemaSerializer(adapter.core_schema, {"ser_json_inf_nan": "constants"})


def _build_adapter(annotation: Any) -> pydantic.TypeAdapter[Any]:
    try:
        return pydantic.TypeAdapter(annotation)
    except pydantic.PydanticSchemaGenerationError:
        # The SDK reads an ordinary class by its annotations.
        fields: Any = {name: (t, ...) for name, t in get_type_hints(annotation).items()}
        config = pydantic.ConfigDict(from_attributes=True)
        model = pydantic.create_model("Result", __config__=config, **fields)
        return pydantic.TypeAdapter(model)


def _is_object_class(annotation: Any) -> bool:
    """Return whether the instances of a type are objects with their own fields."""
    if get_origin(annotation) is not None and isinstance(get_origin(annotation), type):
        annotation = get_origin(annotation)
    return inspect.isclass(annotation) and (
        is_typeddict(annotation) or bool(getattr(annotation, "__annotations__", None))
    )


def _convert_resource(value: Any) -> Any:
    """Return the content of a FastMCP resource: a string, bytes, or a block."""
    contents = getattr(value, "contents", value)
    if isinstance(contents, list) and contents and hasattr(contents[0], "content"):
        if len(contents) > 1:
            raise ToolError("a resource with several contents cannot be sent")
        [content] = contents
        kind = "text" if isinstance(content.content, str) else "blob"
        return Block(
            type="resource",
            resource={
                kind: (
                    content.content
                    if kind == "text"
                    else to_jsonable_python(content.content, bytes_mode="base64")
                ),
                "mimeType": content.mime_type,
            },
        )
    if value is None or isinstance(value, str | bytes):
        return value
    return json.dumps(value)


def _convert_sdk_resource(value: Any) -> str | bytes:
    """Return the content of a resource of the official SDK."""
    if isinstance(value, str | bytes):
        return value
    return to_json(value, fallback=str, indent=2).decode()


def _convert_prompt(value: Any) -> Any:
    """Return the messages of a prompt: strings, blocks, and objects with a role."""
    messages = getattr(value, "messages", value)
    if not isinstance(messages, list | tuple):
        messages = [messages]
    return [_convert_message(message) for message in messages]


def _convert_message(message: Any) -> Any:
    if hasattr(message, "role") and hasattr(message, "content"):
        block = _find_block(message.content)
        content = message.content if block is None else block
        return {"role": message.role, "content": content}
    block = _find_block(message)
    if block is not None:
        return block
    if isinstance(message, str | Mapping):
        return message
    return to_json(message, fallback=str, indent=2).decode()

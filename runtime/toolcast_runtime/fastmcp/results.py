"""Results of handlers that were written for FastMCP or the official SDK.

MCP clients get the content and the structured content that the function's own server sends. A
definition from a FastMCP server has `_meta.fastmcp`; all others follow the official SDK. Both
libraries are read from `sys.modules`: an object of theirs exists only if they are imported.

Sources: fastmcp 4.2.3, `fastmcp/tools/base.py`; mcp 2.3.0, `mcpserver/utilities/func_metadata.py`
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, get_origin, get_type_hints

import pydantic
from pydantic_core import (
    PydanticSerializationError,
    SchemaSerializer,
    to_json,
    to_jsonable_python,
)

from ..core import optional
from ..core.context import Block, ToolError, ToolResponse
from ..core.definitions.tool import Tool

_ERROR_MODULES = """
    fastmcp.exceptions mcp.server.mcpserver.exceptions mcp.shared.exceptions
""".split()
"""Modules of exceptions whose message FastMCP and the SDK send to the caller."""


def translate_error(error: Exception) -> Exception:
    """Return a `ToolError` for an exception whose message the library sends to callers.

    Every other exception is returned unchanged.
    """
    is_sent = any(
        base.__module__ in _ERROR_MODULES and not base.__name__.startswith("Unexpected")
        for base in type(error).__mro__
    )
    return ToolError(str(error)) if is_sent else error


def build_converter(tool: Tool, annotation: Any) -> Callable[[Any], Any]:
    """Return a function that converts a handler's return value like its own library.

    Args:
        tool: the tool, or a resource or prompt as a tool.
        annotation: the annotation of the handler's return value.
    """
    if tool.kind == "prompt":
        return _convert_prompt
    if tool.kind == "resource":
        encode = json.dumps if tool.has_fastmcp_results else _to_indented_json
        return lambda value: _convert_resource(value, encode)
    if tool.has_fastmcp_results:
        return _FastMcpResults(tool, annotation)
    return _SdkResults(tool, annotation)


class _FastMcpResults:
    """Conversion of results like FastMCP's `Tool.convert_result`."""

    def __init__(self, tool: Tool, annotation: Any) -> None:
        self._schema = tool.definition.get("outputSchema")
        self._wraps = "x-fastmcp-wrap-result" in (self._schema or ())
        # Keep NaN, so that it is rejected later as in every other result; Pydantic's default
        # would convert it to null.
        config = pydantic.ConfigDict(ser_json_inf_nan="constants")
        schema = _build_adapter(annotation, Any).core_schema
        self._serializer = SchemaSerializer(schema, config)  # type: ignore[arg-type]

    def __call__(self, value: Any) -> ToolResponse:
        if _is_mcp_result(value):
            return _convert_mcp_result(value)
        blocks = _find_blocks(value)
        if blocks is not None and self._schema is None:
            return ToolResponse(content=blocks)
        try:
            if isinstance(value, bytes):
                return ToolResponse(None, texts=[_to_compact_json(value)])
            result = json.loads(self._serializer.to_json(value))
        except PydanticSerializationError:
            if self._schema is not None:
                raise
            return ToolResponse(None, texts=[_to_compact_json(value)])
        texts = [] if result in (None, []) else [_to_compact_json(result)]
        wrapped = {"result": result} if self._wraps else result
        return ToolResponse(wrapped, content=blocks, texts=texts)


class _SdkResults:
    """Conversion of results like the official SDK's `FuncMetadata.convert_result`."""

    def __init__(self, tool: Tool, annotation: Any) -> None:
        schema = tool.definition.get("outputSchema")
        self._adapter: pydantic.TypeAdapter[Any] | None = None
        if isinstance(schema, Mapping):
            self._adapter = _build_adapter(annotation, None)
            # The SDK wraps results in an object with the key `result`, except instances of
            # classes with fields, and dicts.
            has_fields = hasattr(
                get_origin(annotation) or annotation, "__annotations__"
            )
            self._wraps = set(schema.get("properties", ())) == {"result"}
            self._wraps = self._wraps and not has_fields

    def __call__(self, value: Any) -> ToolResponse:
        if _is_mcp_result(value):
            return _convert_mcp_result(value)
        items = list(_flatten(value))
        texts = [item for item in items if isinstance(item, str)]
        blocks = None
        if len(texts) < len(items):
            blocks = [
                Block(type="text", text=item) if isinstance(item, str) else item
                for item in items
            ]
        if self._adapter is None:
            result = None if blocks else to_jsonable_python(value, fallback=str)
            return ToolResponse(result, content=blocks, texts=texts)
        valid = self._adapter.validate_python(value, by_alias=True, by_name=True)
        # Use the instance's own method, because a subclass of the annotated class may have
        # further fields.
        dump = getattr(valid, "model_dump", partial(self._adapter.dump_python, valid))
        result = dump(mode="json", by_alias=True)
        result = {"result": result} if self._wraps else result
        return ToolResponse(result, content=blocks, texts=texts)


def _flatten(value: Any) -> Iterator[str | Block]:
    """Yield the text and content blocks that the SDK sends for a return value."""
    block = _find_block(value)
    if block is not None:
        yield block
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flatten(item)
    elif value is not None:
        yield value if isinstance(value, str) else _to_indented_json(value)


def _find_blocks(value: Any) -> list[Block] | None:
    """Return content blocks for a value or list with a block or media; None for others.

    Other items of the list become text blocks.
    """
    items = value if isinstance(value, list | tuple) else [value]
    blocks = [_find_block(item) for item in items]
    if not any(blocks):
        return None
    return [
        Block(type="text", text=_to_compact_json(item)) if block is None else block
        for item, block in zip(items, blocks, strict=True)
    ]


def _find_block(value: Any) -> Block | None:
    """Return a content block, or the block of an `Image`, `Audio` or `File`; else None."""
    for method in ("to_image_content", "to_audio_content", "to_resource_content"):
        if hasattr(type(value), method):
            value = getattr(value, method)()
    types = sys.modules.get("mcp_types")
    if types is not None and isinstance(value, types.ContentBlock):
        return Block(value.model_dump(by_alias=True, mode="json", exclude_none=True))
    return value if isinstance(value, Block) else None


def _to_compact_json(value: Any) -> str:
    """Return a string unchanged, bytes decoded, and every other value as compact JSON."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    return value if isinstance(value, str) else to_json(value, fallback=str).decode()


def _to_indented_json(value: Any) -> str:
    return to_json(value, fallback=str, indent=2).decode()


def _is_mcp_result(value: Any) -> bool:
    """Return whether a value is FastMCP's `ToolResult` or MCP's `CallToolResult`."""
    return hasattr(value, "structured_content") and hasattr(value, "content")


def _convert_mcp_result(value: Any) -> ToolResponse:
    content = [block for item in value.content if (block := _find_block(item))]
    texts = [block["text"] for block in content if block["type"] == "text"]
    error = ("\n".join(texts) or "the tool failed") if value.is_error else None
    return ToolResponse(value.structured_content, error, content)


def _build_adapter(annotation: Any, default: Any) -> pydantic.TypeAdapter[Any]:
    """Return a TypeAdapter for an annotation that Pydantic may not support.

    Args:
        annotation: the annotation of a return value.
        default: the type to use instead; None for a model of the annotation's own fields.
    """
    try:
        return pydantic.TypeAdapter(annotation)
    except pydantic.PydanticSchemaGenerationError:
        if default is None:
            fields: Any = {n: (t, ...) for n, t in get_type_hints(annotation).items()}
            config = pydantic.ConfigDict(from_attributes=True)
            default = pydantic.create_model("Result", __config__=config, **fields)
        return pydantic.TypeAdapter(default)


def _convert_resource(value: Any, encode: Callable[[Any], str]) -> Any:
    """Return the content of a resource: a string, bytes, or a block without its URI."""
    contents = getattr(value, "contents", value)
    if isinstance(contents, list) and contents and hasattr(contents[0], "mime_type"):
        if len(contents) > 1:
            raise ToolError("a resource with several contents cannot be sent")
        data, mime_type = contents[0].content, contents[0].mime_type
        build = optional.content_blocks.build_resource_contents
        contents = build("", data, mime_type)
        return Block(type="resource", resource=contents)
    return value if isinstance(value, str | bytes) else encode(value)


def _convert_prompt(value: Any) -> Any:
    """Return the messages of a prompt: strings, blocks, and objects with a role."""
    messages = getattr(value, "messages", value)
    if not isinstance(messages, list | tuple):
        messages = [messages]
    return [_convert_message(message) for message in messages]


def _convert_message(message: Any) -> Any:
    if hasattr(message, "role"):
        content = _find_block(message.content) or message.content
        return {"role": message.role, "content": content}
    if isinstance(message, str | Mapping):
        return message
    return _find_block(message) or _to_indented_json(message)

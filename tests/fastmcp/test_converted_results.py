"""Return values of FastMCP and SDK functions, converted as their own servers do it.

`test_import_of_fastmcp` compares the conversion with the installed FastMCP.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mcp_types import CallToolResult, ImageContent, TextContent
from pydantic import BaseModel, Field
from pydantic_core import PydanticSerializationError

from toolcast_runtime.core.context import ToolError, ToolResponse
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.fastmcp.results import build_converter, translate_error

TEXT = TextContent(type="text", text="one")
IMAGE = ImageContent(type="image", data="aa", mime_type="image/png")
IMAGE_BLOCK = {"type": "image", "data": "aa", "mimeType": "image/png"}
WRAPPED = {"x-fastmcp-wrap-result": True}


class Point(BaseModel):
    x: int
    label: str = Field("point", alias="theLabel")


class Answer(BaseModel):
    result: int


def make_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def convert(
    value: Any,
    annotation: Any = Any,
    *,
    kind: Any = "tool",
    has_fastmcp: bool = False,
    schema: Any = None,
) -> Any:
    definition: dict[str, Any] = {"name": "t", "inputSchema": {}}
    if has_fastmcp:
        definition["_meta"] = {"fastmcp": {}}
    if schema is not None:
        definition["outputSchema"] = schema
    tool = Tool("t", "", "", definition, has_pydantic_values=True, kind=kind)
    return build_converter(tool, annotation)(value)


@pytest.mark.parametrize(
    ("value", "schema", "response"),
    [
        (3, None, ToolResponse(3, texts=["3"])),
        (3, WRAPPED, ToolResponse({"result": 3}, texts=["3"])),
        ({"a": 1}, {}, ToolResponse({"a": 1}, texts=['{"a":1}'])),
        (None, None, ToolResponse(None, texts=[])),
        ([], None, ToolResponse([], texts=[])),
        (b"\xc3\xa4", None, ToolResponse(None, texts=["ä"])),
        # Pydantic cannot serialize a class.
        (Point, None, ToolResponse(None, texts=[f'"{Point}"'])),
        (TEXT, None, ToolResponse(content=[make_block("one")])),
        (
            (IMAGE, "two", b"\xff", {"a": 1}),
            None,
            ToolResponse(
                content=[IMAGE_BLOCK, *map(make_block, ["two", "/w==", '{"a":1}'])]
            ),
        ),
    ],
)
def test_fastmcp_tool_result_has_the_libraries_json_content_and_texts(
    value: Any, schema: Any, response: ToolResponse
) -> None:
    assert convert(value, has_fastmcp=True, schema=schema) == response


def test_fastmcp_tool_result_with_an_output_schema_has_content_and_json() -> None:
    """A value that Pydantic cannot serialize is an error."""
    converted = convert([IMAGE], has_fastmcp=True, schema=WRAPPED)
    assert converted.content == [IMAGE_BLOCK]
    assert converted.result["result"][0]["data"] == "aa"
    with pytest.raises(PydanticSerializationError):
        convert(Point, has_fastmcp=True, schema={})


@pytest.mark.parametrize(
    ("value", "annotation", "response"),
    [
        ("a", None, ToolResponse("a", texts=["a"])),
        ([TEXT, "two"], None, ToolResponse(content=[*map(make_block, ["one", "two"])])),
        (3, int, ToolResponse({"result": 3}, texts=["3"])),
        # A model with a field `result` is not wrapped.
        (Answer(result=3), Answer, ToolResponse({"result": 3})),
        ({"x": 1, "theLabel": "a"}, Point, ToolResponse({"x": 1, "theLabel": "a"})),
        ({"x": 1, "label": "a"}, Point, ToolResponse({"x": 1, "theLabel": "a"})),
    ],
)
def test_sdk_tool_result_is_validated_and_wrapped_unless_its_type_has_fields(
    value: Any, annotation: Any, response: ToolResponse
) -> None:
    schema = annotation and {"properties": {"result": {}}}
    converted = convert(value, annotation, schema=schema)
    assert (converted.result, converted.content) == (response.result, response.content)
    assert response.texts is None or converted.texts == response.texts


@pytest.mark.parametrize("has_fastmcp", [False, True])
def test_mcp_tool_result_object_keeps_its_content_structured_content_and_error(
    has_fastmcp: bool,
) -> None:
    for result, response in (
        (
            CallToolResult(content=[TEXT, IMAGE], structured_content={"a": 1}),
            ToolResponse({"a": 1}, content=[make_block("one"), IMAGE_BLOCK]),
        ),
        (
            CallToolResult(content=[TEXT, IMAGE], is_error=True),
            ToolResponse(error="one", content=[make_block("one"), IMAGE_BLOCK]),
        ),
        (
            CallToolResult(content=[IMAGE], is_error=True),
            ToolResponse(error="the tool failed", content=[IMAGE_BLOCK]),
        ),
    ):
        assert convert(result, has_fastmcp=has_fastmcp) == response
    # An object with only one of the attributes is no such result.
    assert convert({"a": 1}, has_fastmcp=has_fastmcp).result == {"a": 1}
    other = SimpleNamespace(content=[TEXT])
    assert convert(other, has_fastmcp=has_fastmcp).texts[0].startswith('"namespace(')


def test_fastmcp_resource_result_with_one_content_becomes_a_resource_block() -> None:
    """The content's MIME type is kept; several contents are an error."""
    contents = [SimpleNamespace(content="a", mime_type="text/x")] * 2
    value = SimpleNamespace(contents=contents[:1])
    for converted in (
        convert(value, kind="resource", has_fastmcp=True),
        convert(contents[:1], kind="resource"),
    ):
        assert converted["resource"] == {"uri": "", "mimeType": "text/x", "text": "a"}
    with pytest.raises(ToolError, match="a resource with several contents"):
        convert(contents, kind="resource")
    assert convert({"a": 1}, kind="resource") == '{\n  "a": 1\n}'
    assert convert({"a": 1}, kind="resource", has_fastmcp=True) == '{"a": 1}'


def test_prompt_result_is_a_list_of_texts_blocks_and_messages_with_a_role() -> None:
    message = SimpleNamespace(role="assistant", content=IMAGE)
    for value, converted in (
        ("a", ["a"]),
        (SimpleNamespace(messages=("a", {"role": "user"})), ["a", {"role": "user"}]),
        ([message], [{"role": "assistant", "content": IMAGE_BLOCK}]),
        ((TEXT, [1]), [make_block("one"), "[\n  1\n]"]),
    ):
        assert convert(value, kind="prompt") == converted


@pytest.mark.parametrize(
    ("module", "name", "is_sent"),
    [
        ("fastmcp.exceptions", "ToolError", True),
        ("mcp.shared.exceptions", "MCPError", True),
        ("mcp.server.mcpserver.exceptions", "UnexpectedError", False),
        ("other.exceptions", "ToolError", False),
    ],
)
def test_fastmcp_or_sdk_exception_becomes_a_tool_error_with_its_message(
    module: str, name: str, is_sent: bool
) -> None:
    """Only exceptions whose message the library sends to clients."""
    library_error = type(name, (Exception,), {"__module__": module})
    error = type("AppError", (library_error,), {})("not today")
    translated = translate_error(error)
    if is_sent:
        assert isinstance(translated, ToolError) and str(translated) == "not today"
    else:
        assert translated is error

"""Results and errors of handlers: the same from the registry, MCP, the CLI and LangChain."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from mcp import Client

from tests.conftest import Project
from tests.project_files import write_files, write_toolset

PICTURE = "iVBORw0KGgo="
HANDLERS = """
import collections
import datetime
import enum
import types

from toolcast_runtime import ToolResponse

Point = collections.namedtuple("Point", "x y")


class Colour(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 2


class Note:
    def __repr__(self):
        return "password=hunter2"


LOOP = []
LOOP.append(LOOP)
DEEP = []
for _ in range(100_000):
    DEEP = [DEEP]

VALUES = {
    "tuple": lambda: {"pair": (1, (2, 3))},
    "named_tuple": lambda: [Point(1, 2)],
    "ordered": lambda: collections.OrderedDict(b=1, a=collections.Counter("aa")),
    "enumeration": lambda: [Colour.RED, Level.HIGH],
    "text_enumeration": lambda: Colour.RED,
    "number_keys": lambda: {1: "one", None: "none", 1.5: "half"},
    "large_number": lambda: 2**70,
    "nothing": lambda: None,
    "text": lambda: "é 🦊",
    "twice": lambda: {1: "a", "1": "b"},
    "set": lambda: {"words": {"a"}},
    "date": lambda: [datetime.date(2026, 1, 31)],
    "bytes": lambda: b"hunter2",
    "object": lambda: {"note": Note()},
    "proxy": lambda: types.MappingProxyType({}),
    "nan": lambda: [float("nan")],
    "infinity": lambda: -float("inf"),
    "surrogate": lambda: {"file": "\\udcff"},
    "tuple_key": lambda: {(1, 2): "x"},
    "loop": lambda: LOOP,
    "deep": lambda: DEEP,
    "digits": lambda: 10**5000,
    "error_object": lambda: ToolResponse(error=Note),
    "no_list": lambda: ToolResponse(content="text"),
    "one_block": lambda: ToolResponse(content={"type": "text", "text": "x"}),
    "number_block": lambda: ToolResponse(content=[7]),
    "without_text": lambda: ToolResponse(content=[{"type": "text"}]),
    "unknown_type": lambda: ToolResponse(content=[{"type": "hunter2"}]),
    "list_type": lambda: ToolResponse(content=[{"type": []}]),
    "no_base64": lambda: ToolResponse(
        content=[{"type": "image", "data": "hunter2!", "mimeType": "image/png"}]),
    "bytes_image": lambda: ToolResponse(
        content=[{"type": "image", "data": b"x", "mimeType": "image/png"}]),
    "snake_case": lambda: ToolResponse(
        content=[{"type": "image", "data": "eA==", "mime_type": "image/png"}]),
    "empty_resource": lambda: ToolResponse(content=[{"type": "resource", "resource": {}}]),
    "flat_resource": lambda: ToolResponse(content=[{"type": "resource", "resource": "x"}]),
    "priority": lambda: ToolResponse(
        content=[{"type": "text", "text": "x", "annotations": {"priority": 3}}]),
    "surrogate_block": lambda: ToolResponse(content=[{"type": "text", "text": "\\udcff"}]),
    "blocks": lambda: ToolResponse(content=(
        {"type": "text", "text": "Here."},
        types.MappingProxyType({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}),
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "notes://7", "name": "seven", "description": "Note 7."},
        {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside"}},
        {"type": "resource", "resource":
            {"uri": "file:///b.pdf", "blob": "JVBERg==", "mimeType": "application/pdf"}},
        {"type": "resource", "resource":
            {"uri": "file:///c.png", "blob": "iVBORw0KGgo=", "mimeType": "image/png"}},
    )),
}


def value(name):
    return VALUES[name]()
"""
SPEC = """
summary: Give a value.
parameters:
  type: object
  required: [name]
  properties: {name: {type: string}}
handler: handlers.toy:value
cli: {keyword: value}
"""
JSON_RESULTS = {
    "tuple": {"pair": [1, [2, 3]]},
    "named_tuple": [[1, 2]],
    "ordered": {"b": 1, "a": {"a": 2}},
    "enumeration": ["red", 2],
    "text_enumeration": "red",
    "number_keys": {"1": "one", "null": "none", "1.5": "half"},
    "large_number": 2**70,
    "nothing": None,
    "text": "é 🦊",
}
ERRORS = {
    "twice": "returned a result that is not JSON: it has two keys that are equal as strings",
    "set": "returned a result that is not JSON: it contains a Python set",
    "date": "returned a result that is not JSON: it contains a Python date",
    "bytes": "returned a result that is not JSON: it contains a Python bytes",
    "object": "returned a result that is not JSON: it contains a Python Note",
    "proxy": "returned a result that is not JSON: it contains a Python mappingproxy",
    "nan": "returned a result that is not JSON: it has a number that JSON does not have",
    "infinity": "is not JSON: it has a number that JSON does not have, such as NaN",
    "surrogate": "returned a result that is not JSON: it has half of a surrogate pair",
    "tuple_key": "returned a result that is not JSON: it has a key that is not a string",
    "loop": "returned a result that is not JSON: it contains itself",
    "deep": "returned a result that is not JSON: it is nested too deeply",
    "digits": "returned a result that is not JSON: it has a number with too many digits",
    "no_list": "returned invalid MCP content: it must be an array of content blocks",
    "one_block": "returned invalid MCP content: it must be an array of content blocks",
    "number_block": "returned invalid MCP content: block 1: it must be an object",
    "without_text": "returned invalid MCP content: block 1: `text` is missing",
    "unknown_type": "block 1: `type` must be one of text, image, audio, resource_link",
    "list_type": "block 1: `type` must be one of text, image, audio, resource_link",
    "no_base64": "returned invalid MCP content: block 1: `data` must be base64",
    "bytes_image": "returned content that is not JSON: it contains a Python bytes",
    "snake_case": "returned invalid MCP content: block 1: `mimeType` is missing",
    "empty_resource": "block 1: `resource.text` is missing; block 1: `resource.uri`",
    "flat_resource": "block 1: `resource` must be an object",
    "priority": "block 1: `annotations.priority` violates `maximum` 1",
    "surrogate_block": "returned content that is not JSON: it has half of a surrogate pair",
}
BLOCKS = [
    {"type": "text", "text": "Here."},
    {"type": "image", "data": PICTURE, "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
]
"""The first content blocks that the tool returns."""


@dataclass(frozen=True)
class Interfaces:
    """Generated modules of one tool."""

    package: str

    def registry(self, name: str) -> Any:
        module = importlib.import_module(f"{self.package}.registry")
        return module.call_tool_sync("value", {"name": name})

    def mcp(self, name: str, mode: str) -> dict[str, Any]:
        """Return the CallToolResult that the SDK's client receives."""
        server = importlib.import_module(f"{self.package}.mcp_server").SERVER.build()

        async def call_tool() -> dict[str, Any]:
            async with Client(server, mode=mode) as client:
                result = await client.call_tool("value", {"name": name})
                return result.model_dump(by_alias=True, exclude_none=True)

        return asyncio.run(call_tool())

    def cli(self, name: str) -> Any:
        module = importlib.import_module(f"{self.package}.cli")
        return CliRunner().invoke(module.main, ["value", "--name", name])

    @property
    def tool(self) -> Any:
        module = importlib.import_module(f"{self.package}.langchain_tools")
        return module.get_langchain_tool("value")

    def langchain(self, name: str) -> ToolMessage:
        """Return the message that LangGraph's ToolNode passes to the model."""
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode([self.tool]))
        graph.add_edge(START, "tools")
        graph.add_edge("tools", END)
        call = {"name": "value", "args": {"name": name}, "id": "7", "type": "tool_call"}
        state = {"messages": [AIMessage("", tool_calls=[call])]}
        reply: ToolMessage = asyncio.run(graph.compile().ainvoke(state))["messages"][-1]
        sync: ToolMessage = graph.compile().invoke(state)["messages"][-1]
        assert (reply.content, reply.tool_call_id) == (sync.content, sync.tool_call_id)
        return reply


@pytest.fixture(scope="module")
def interfaces(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Interfaces]:
    root: Path = tmp_path_factory.mktemp("answers")
    targets = "{registry: {}, mcp: {}, langchain: {}, cli: {}}"
    toolset = f"name: toy\ntitle: Toy\nhandlers: handlers\ntargets: {targets}\n"
    specs = {"toolset": toolset, "value": f"name: value\n{SPEC}"}
    project = Project(write_toolset(root, "toy", specs, output="answers"))
    write_files(root / "handlers", {"__init__.py": "", "toy.py": HANDLERS})
    project.generate()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root))
        yield Interfaces("answers.toy")
    for name in [*sys.modules]:
        if name.split(".")[0] in ("answers", "handlers"):
            del sys.modules[name]


both_protocols = pytest.mark.parametrize("mode", ["legacy", "auto"])


@both_protocols
@pytest.mark.parametrize("name", JSON_RESULTS)
def test_result_is_the_same_json_in_every_interface(
    interfaces: Interfaces, name: str, mode: str
) -> None:
    result = interfaces.registry(name).result
    assert json.dumps(result) == json.dumps(JSON_RESULTS[name])
    assert has_only_json_types(result)
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    content = [{"type": "text", "text": text}]
    assert interfaces.mcp(name, mode)["content"] == content
    assert interfaces.langchain(name).content == text
    output = interfaces.cli(name)
    if result is not None:
        string = output.stdout[:-1] if isinstance(result, str) else None
        assert (string or json.loads(output.stdout)) == result


def has_only_json_types(value: Any) -> bool:
    if isinstance(value, dict):
        return type(value) is dict and all(map(has_only_json_types, value.values()))
    if isinstance(value, list):
        return type(value) is list and all(map(has_only_json_types, value))
    return type(value) in (str, int, float, bool, type(None))


@pytest.mark.rows(24)
@both_protocols
@pytest.mark.parametrize("name", ERRORS)
def test_invalid_result_is_the_same_error_in_every_interface(
    interfaces: Interfaces, name: str, mode: str
) -> None:
    error = interfaces.registry(name).error
    assert error.startswith("the tool returned ") and ERRORS[name] in error
    assert "hunter2" not in error
    mcp_result = interfaces.mcp(name, mode)
    assert mcp_result["isError"] is True
    assert mcp_result["content"] == [{"type": "text", "text": error}]
    reply = interfaces.langchain(name)
    assert (reply.status, reply.content) == ("error", error)
    output = interfaces.cli(name)
    assert output.exit_code == 1
    assert output.stderr.splitlines()[-1] == f"error: {error}"


@both_protocols
def test_interfaces_return_content_blocks_in_their_own_form(
    interfaces: Interfaces, mode: str
) -> None:
    """MCP has the same blocks, the CLI lines and LangChain its own block types."""
    blocks = interfaces.registry("blocks").content
    assert blocks[:3] == BLOCKS
    assert interfaces.mcp("blocks", mode)["content"] == blocks
    assert interfaces.cli("blocks").stdout.splitlines() == [
        "Here.",
        "[image/png, 8 bytes]",
        "[audio/wav, 4 bytes]",
        "seven: notes://7",
        "inside",
        "[b.pdf, application/pdf, 4 bytes]",
        "[c.png, image/png, 8 bytes]",
    ]
    image = {"type": "image", "base64": PICTURE, "mime_type": "image/png"}
    pdf = {"type": "file", "base64": "JVBERg==", "mime_type": "application/pdf"}
    expected = [
        {"type": "text", "text": "Here."},
        image,
        {"type": "file", "base64": "UklGRg==", "mime_type": "audio/wav"},
        {"type": "text", "text": "seven: notes://7\nNote 7."},
        {"type": "text", "text": "inside"},
        {**pdf, "extras": {"filename": "b.pdf"}},
        image,
    ]
    reply = interfaces.langchain("blocks")
    assert (reply.status, reply.name, reply.tool_call_id) == ("success", "value", "7")
    assert reply.content == expected
    # LangChain recognizes each block as one of its own types.
    types = [block["type"] for block in reply.content_blocks]
    assert types == [block["type"] for block in expected]
    assert interfaces.tool.invoke({"name": "blocks"}) == expected


def test_non_string_tool_error_is_converted_to_string(interfaces: Interfaces) -> None:
    error = interfaces.registry("error_object").error
    assert error == "<class 'handlers.toy.Note'>"

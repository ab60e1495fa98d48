"""LangChain tools of a registry: calls, results, errors, schemas and copies."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import ToolException
from pydantic import ValidationError

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse, UnknownToolError, image, text
from toolcast_runtime.langchain import LangChainTools


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    package = Package(
        tmp_path,
        definition("count"),
        definition("inside", exclusions={"langchain": "It is interactive."}),
    )
    return Registry(package.load())


def test_invoke_passes_name_arguments_and_client_to_the_registry(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Any] = []

    async def call_tool(
        name: str, arguments: Any, client: Any, *, ask: Any
    ) -> ToolResponse:
        calls.append((name, arguments, client, ask.can_repeat_call, ask.raised))
        return ToolResponse({"n": 1})

    monkeypatch.setattr(registry, "call_tool", call_tool)
    tool = LangChainTools(registry).get("count")
    assert tool.invoke({"config": 1}) == '{"n": 1}'
    assert asyncio.run(tool.ainvoke({"self": 2})) == '{"n": 1}'
    assert calls == [
        ("count", {"config": 1}, None, True, None),
        ("count", {"self": 2}, None, True, None),
    ]
    assert tool.handle_tool_error is True
    assert {"registry", "client"}.isdisjoint(tool.model_dump())


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (ToolResponse("x"), "x"),
        (ToolResponse(content=[text("x")]), [{"type": "text", "text": "x"}]),
        (ToolResponse("x", content=[]), []),
    ],
)
def test_langchain_tool_returns_the_response_as_text_or_content_blocks(
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    response: ToolResponse,
    expected: Any,
) -> None:
    async def call_tool(*_: Any, **__: Any) -> ToolResponse:
        return response

    monkeypatch.setattr(registry, "call_tool", call_tool)
    assert LangChainTools(registry).get("count").invoke({}) == expected


def test_raised_tool_error_describes_images_as_text(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def call_tool(*_: Any, **__: Any) -> ToolResponse:
        blocks = [text("It broke."), image(b"\x89PNG")]
        return ToolResponse(error="It broke.", content=blocks)

    monkeypatch.setattr(registry, "call_tool", call_tool)
    tool = LangChainTools(registry).get("count")
    tool.handle_tool_error = False
    with pytest.raises(ToolException) as raised:
        tool.invoke({})
    assert str(raised.value) == "It broke.\n(image/png, which cannot be shown here)"


def test_tool_excluded_from_langchain_is_unknown(registry: Registry) -> None:
    tools = LangChainTools(registry)
    assert [tool.name for tool in tools.all()] == ["count"]
    for name in ("inside", "nothing"):
        with pytest.raises(UnknownToolError, match=f"unknown tool `{name}`"):
            tools.get(name)


def test_input_schema_is_cached_and_validates_with_the_registry(
    registry: Registry,
) -> None:
    tool = LangChainTools(registry).get("count")
    model = tool.get_input_schema()
    assert model is tool.get_input_schema()
    assert model.model_validate({"any": 1}).model_dump() == {"any": 1}
    assert model.model_json_schema() == {"type": "object"}
    with pytest.raises(ValidationError, match="the arguments must be an object"):
        model.model_validate([])


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "model_copy": lambda tool: tool.model_copy(deep=True),
    "model_copy with update": lambda tool: tool.model_copy(
        deep=True, update={"description": "X"}
    ),
    "nested in a list": lambda tool: copy.deepcopy({"tools": [tool]})["tools"][0],
    "copied twice": lambda tool: copy.deepcopy(copy.deepcopy(tool)),
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("is_called_before", [False, True])
def test_copied_tool_can_be_called_and_shares_the_registry(
    tmp_path: Path, duplicate: Callable[[Any], Any], is_called_before: bool
) -> None:
    spec = definition("add", handler="tests.runtime.core_handlers:add")
    number = {"type": "number"}
    spec["mcp"]["inputSchema"]["properties"] = {"a": number, "b": number}
    registry = Registry(Package(tmp_path, spec).load(), handlers="tests.runtime")
    tool = LangChainTools(registry).get("add")
    if is_called_before:
        tool.invoke({"a": 1, "b": 2})
        tool.get_input_schema()
    copied = duplicate(tool)
    assert copied is not tool and copied.registry is registry
    assert float(copied.invoke({"a": 1, "b": 2})) == 3
    assert copied.get_input_schema()(a=1)


def test_deep_copied_tool_collection_shares_the_registry(registry: Registry) -> None:
    tools = copy.deepcopy(LangChainTools(registry))
    assert tools.get("count").registry is registry

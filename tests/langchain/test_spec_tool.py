"""LangChain tools of a registry: calls, results, errors, schemas and copies."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda, RunnableParallel
from langchain_core.tools import ToolException
from pydantic import ValidationError

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry, ToolResponse, UnknownToolError, image, text
from toolcast_runtime.langchain import LangChainTools, SpecTool


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    package = Package(
        tmp_path,
        definition("count"),
        definition("inside", exclusions={"langchain": "It is interactive."}),
    )
    return Registry(package.load())


def test_langchain_tool_passes_its_name_arguments_and_client_to_the_registry(
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


def test_langchain_tool_exception_describes_images_as_text(
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


def test_langchain_tools_get_raises_unknown_tool_error_for_a_tool_excluded_from_langchain(
    registry: Registry,
) -> None:
    tools = LangChainTools(registry)
    assert [tool.name for tool in tools.all()] == ["count"]
    for name in ("inside", "nothing"):
        with pytest.raises(UnknownToolError, match=f"unknown tool `{name}`"):
            tools.get(name)


def test_langchain_tool_input_schema_model_is_cached_and_accepts_any_json_object(
    registry: Registry,
) -> None:
    tool = LangChainTools(registry).get("count")
    model = tool.get_input_schema()
    assert model is tool.get_input_schema()
    assert model.model_validate({"any": 1}).model_dump() == {"any": 1}
    assert model.model_json_schema() == {"type": "object"}
    with pytest.raises(ValidationError, match="the arguments must be an object"):
        model.model_validate([])


def _add(folder: Path) -> SpecTool:
    """Return a tool that adds the numbers `a` and `b`."""
    spec = definition("add", handler="tests.runtime.core_handlers:add")
    number = {"type": "number"}
    spec["mcp"]["inputSchema"]["properties"] = {"a": number, "b": number}
    registry = Registry(Package(folder, spec).load(), handlers="tests.runtime")
    return LangChainTools(registry).get("add")


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
def test_copied_langchain_tool_can_be_called_and_shares_the_registry(
    tmp_path: Path, duplicate: Callable[[Any], Any], is_called_before: bool
) -> None:
    tool = _add(tmp_path)
    registry = tool.registry
    if is_called_before:
        tool.invoke({"a": 1, "b": 2})
        tool.get_input_schema()
    copied = duplicate(tool)
    assert copied is not tool and copied.registry is registry
    assert float(copied.invoke({"a": 1, "b": 2})) == 3
    assert copied.get_input_schema()(a=1)


RUNNABLES: dict[str, Callable[[Any], Any]] = {
    "with_config": lambda tool: tool.with_config(tags=["x"]),
    "bind": lambda tool: tool.bind(),
    "sequence": lambda tool: tool | RunnableLambda(str),
    "with_retry": lambda tool: tool.with_retry(),
    "with_fallbacks": lambda tool: tool.with_fallbacks([tool]),
    "parallel": lambda tool: RunnableParallel(sum=tool) | itemgetter("sum"),
}


@pytest.mark.parametrize("build", RUNNABLES.values(), ids=RUNNABLES)
async def test_copied_runnable_with_a_langchain_tool_can_be_invoked(
    tmp_path: Path, build: Callable[[Any], Any]
) -> None:
    tool = _add(tmp_path)
    runnable = build(tool)
    assert float(runnable.invoke({"a": 1, "b": 2})) == 3
    for duplicate in (copy.copy, copy.deepcopy):
        assert float(duplicate(runnable).invoke({"a": 1, "b": 2})) == 3
        assert float(await duplicate(runnable).ainvoke({"a": 1, "b": 2})) == 3


@pytest.mark.parametrize("deep", [False, True], ids=["shallow", "deep"])
@pytest.mark.parametrize("name", ["plus", "count", "Add", "add "])
def test_renamed_langchain_tool_copy_calls_the_same_tool(
    tmp_path: Path, name: str, deep: bool
) -> None:
    """Agents rename the tools of several sources, so that no two names are equal."""
    tool = _add(tmp_path).model_copy(deep=deep, update={"name": name})
    call = {"name": name, "args": {"a": 1, "b": 2}, "id": "1", "type": "tool_call"}
    message = tool.invoke(call)
    assert float(message.content) == 3 and message.name == name
    assert tool.get_input_schema()(a=1, b=2)
    assert "registered_name" not in repr(tool) + str(tool.model_dump())


def test_deep_copied_langchain_tool_has_its_own_args_schema(tmp_path: Path) -> None:
    tool = _add(tmp_path)
    found = copy.deepcopy(tool)
    schemas: list[Any] = [found.args_schema, tool.args_schema]
    schemas[0]["properties"]["a"]["type"] = "string"
    assert schemas[1]["properties"]["a"] == {"type": "number"}
    assert float(found.invoke({"a": 1, "b": 2})) == 3


def test_langchain_tool_deep_copies_can_be_called_from_threads(tmp_path: Path) -> None:
    tool = _add(tmp_path)
    with ThreadPoolExecutor(16) as pool:
        results = pool.map(
            lambda number: copy.deepcopy(tool).invoke({"a": number, "b": 0}), range(60)
        )
        assert [float(result) for result in results] == list(range(60))


def test_deep_copied_langchain_tools_share_the_registry(registry: Registry) -> None:
    tools = copy.deepcopy(LangChainTools(registry))
    assert tools.get("count").registry is registry

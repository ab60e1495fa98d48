"""LangChain tools: unchanged arguments, results as text, errors and cancellation."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from tests.waiting import wait_until_async

RESERVED_NAMES = (
    "config run_manager runtime self callbacks args kwargs from a-b class type "
    "input name tool_input state store tool_call_id arguments cls client "
    "registry _private schema"
).split()

HANDLERS = """
import contextvars
import threading
import time

from toolcast_runtime import ToolError, ToolResponse, current_call

SETTING = contextvars.ContextVar("setting", default="unset")

def echo(arguments, /):
    return {"got": arguments}

def rows():
    return ["é", {"a": 1}, None]

def nothing():
    return None

def text():
    return "plain"

def fails():
    raise ToolError("not today")

def breaks():
    raise RuntimeError("password=hunter2")

def blocks():
    return ToolResponse(content=[{"type": "text", "text": "hello"}])

SEEN = []

def waits():
    SEEN.append("begun")
    while not current_call().cancelled:
        time.sleep(0.01)
    SEEN.append("cancelled")

async def setting():
    return {"setting": SETTING.get(), "thread": threading.current_thread().name}
"""

PLAIN_SPEC = """
summary: Do it.
parameters: {type: object, properties: {}, additionalProperties: false}
handler: handlers.toy:NAME
"""


@pytest.fixture
def get_tool(make_project: Callable[..., Any]) -> Iterator[Callable[[str], BaseTool]]:
    """Return the function that gets LangChain tools of a generated toolset."""
    properties = "".join(f"    {name}: {{type: string}}\n" for name in RESERVED_NAMES)
    echo = (
        "summary: Return the arguments.\n"
        "parameters:\n  type: object\n  additionalProperties: false\n  properties:\n"
        f"{properties}handler: handlers.toy:echo\n"
    )
    plain = ("rows", "nothing", "text", "fails", "breaks", "blocks", "setting", "waits")
    tools = {name: PLAIN_SPEC.replace("NAME", name) for name in plain}
    project = make_project(
        {"echo": echo, **tools},
        toolset="targets: {langchain: {}}\n",
        workspace="output: toy_tools\n",
        handlers=HANDLERS,
    )
    project.generate()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project.root))
        # The package was generated just now, so that type checkers do not know it.
        from toy_tools.toy.langchain_tools import (  # type: ignore[import-not-found]
            get_langchain_tool,
        )

        yield get_langchain_tool
    for module in [
        m for m in sys.modules if m.split(".")[0] in ("toy_tools", "handlers")
    ]:
        del sys.modules[module]


def invoke_in_tool_node(tool: BaseTool, arguments: dict[str, Any]) -> ToolMessage:
    """Return the message of LangGraph's ToolNode, which injects arguments of its own."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    request = AIMessage("", tool_calls=[call])
    message = graph.compile().invoke({"messages": [request]})["messages"][-1]
    assert isinstance(message, ToolMessage)
    return message


def test_arguments_with_names_reserved_by_langchain_reach_the_handler_unchanged(
    get_tool: Callable[[str], BaseTool],
) -> None:
    tool = get_tool("echo")
    for name in RESERVED_NAMES:
        arguments = {name: f"value of {name}"}
        assert json.loads(tool.invoke(arguments)) == {"got": arguments}
        assert json.loads(asyncio.run(tool.ainvoke(arguments))) == {"got": arguments}
        message = invoke_in_tool_node(tool, arguments)
        assert (message.status, json.loads(str(message.content))) == (
            "success",
            {"got": arguments},
        )
    all_arguments = dict.fromkeys(RESERVED_NAMES, "x")
    message = invoke_in_tool_node(tool, all_arguments)
    assert json.loads(str(message.content)) == {"got": all_arguments}


@pytest.mark.parametrize("arguments", [{"foreign": "x"}, {"name": 3}])
def test_langchain_tool_input_schema_refuses_arguments_that_its_spec_refuses(
    get_tool: Callable[[str], BaseTool], arguments: dict[str, Any]
) -> None:
    tool = get_tool("echo")
    model = tool.get_input_schema()
    model(**{"from": "x", "a-b": "y"})
    with pytest.raises(ValueError, match=r"not a parameter|must be a string"):
        model(**arguments)
    assert model.model_json_schema() == tool.args_schema


def test_langchain_tool_returns_json_text_plain_text_or_content_blocks(
    get_tool: Callable[[str], BaseTool],
) -> None:
    assert get_tool("rows").invoke({}) == '["é", {"a": 1}, null]'
    assert invoke_in_tool_node(get_tool("rows"), {}).content == '["é", {"a": 1}, null]'
    assert get_tool("text").invoke({}) == "plain"
    assert get_tool("nothing").invoke({}) == "null"
    assert get_tool("blocks").invoke({}) == [{"type": "text", "text": "hello"}]


def test_langchain_tool_returns_a_tool_error_with_error_status_or_raises_it(
    get_tool: Callable[[str], BaseTool],
) -> None:
    """Tools with `handle_tool_error=False` raise `ToolException`."""
    message = invoke_in_tool_node(get_tool("fails"), {})
    assert (message.status, message.content) == ("error", "not today")
    assert get_tool("fails").invoke({}) == "not today"
    strict = get_tool("fails").model_copy(update={"handle_tool_error": False})
    with pytest.raises(ToolException, match="not today"):
        strict.invoke({})


def test_langchain_tool_message_omits_unexpected_handler_exception_text(
    get_tool: Callable[[str], BaseTool],
) -> None:
    message = invoke_in_tool_node(get_tool("breaks"), {})
    assert message.status == "error"
    assert "hunter2" not in str(message.content)


def test_langchain_invoke_in_a_running_loop_uses_another_thread_with_the_same_context(
    get_tool: Callable[[str], BaseTool],
) -> None:
    tool = get_tool("setting")
    setting = (
        sys.modules["handlers.toy"].SETTING if "handlers.toy" in sys.modules else None
    )
    # A handler is imported when it is first called.
    assert setting is None
    json.loads(tool.invoke({}))
    setting = sys.modules["handlers.toy"].SETTING

    async def run() -> Any:
        setting.set("from the caller")
        return json.loads(tool.invoke({}))

    result = asyncio.run(run())
    assert result["setting"] == "from the caller"
    assert result["thread"] != "MainThread"


def test_cancelled_langchain_tool_ainvoke_cancels_the_running_handler(
    get_tool: Callable[[str], BaseTool],
) -> None:
    async def wait_for_state(state: str) -> None:
        await wait_until_async(
            lambda: state in getattr(sys.modules.get("handlers.toy"), "SEEN", ())
        )

    async def run() -> None:
        task = asyncio.create_task(get_tool("waits").ainvoke({}))
        await wait_for_state("begun")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_for_state("cancelled")

    asyncio.run(run())

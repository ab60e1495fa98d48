"""What goes in reaches the handler as it is, and what it gives comes out as text."""

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

AWKWARD = (
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

NOTHING = """
summary: Do it.
parameters: {type: object, properties: {}, additionalProperties: false}
handler: handlers.toy:NAME
"""


@pytest.fixture
def toy(make_project: Callable[..., Any]) -> Iterator[Callable[[str], BaseTool]]:
    """The wrapper of a tool of a toolset made for these tests."""
    properties = "".join(f"    {name}: {{type: string}}\n" for name in AWKWARD)
    echo = (
        "summary: Give the arguments back.\n"
        "parameters:\n  type: object\n  additionalProperties: false\n  properties:\n"
        f"{properties}handler: handlers.toy:echo\n"
    )
    plain = ("rows", "nothing", "text", "fails", "breaks", "blocks", "setting", "waits")
    tools = {name: NOTHING.replace("NAME", name) for name in plain}
    project = make_project(
        {"echo": echo, **tools},
        toolset="targets: {langchain: {}}\n",
        workspace="output: toy_tools\n",
        handlers=HANDLERS,
    )
    project.generate()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project.root))
        # Cast a moment ago; no type checker can have seen it.
        from toy_tools.toy.langchain_tools import (  # type: ignore[import-not-found]
            get_langchain_tool,
        )

        yield get_langchain_tool
    for module in [
        m for m in sys.modules if m.split(".")[0] in ("toy_tools", "handlers")
    ]:
        del sys.modules[module]


def through_tool_node(tool: BaseTool, arguments: dict[str, Any]) -> ToolMessage:
    """The answer of LangGraph's ToolNode, which injects arguments of its own."""
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([tool]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    call = {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    message = AIMessage("", tool_calls=[call])
    answer = graph.compile().invoke({"messages": [message]})["messages"][-1]
    assert isinstance(answer, ToolMessage)
    return answer


def test_arguments_of_any_name_reach_the_handler(
    toy: Callable[[str], BaseTool],
) -> None:
    tool = toy("echo")
    for name in AWKWARD:
        given = {name: f"value of {name}"}
        assert json.loads(tool.invoke(given)) == {"got": given}
        assert json.loads(asyncio.run(tool.ainvoke(given))) == {"got": given}
        answer = through_tool_node(tool, given)
        assert (answer.status, json.loads(str(answer.content))) == (
            "success",
            {"got": given},
        )
    everything = dict.fromkeys(AWKWARD, "x")
    answer = through_tool_node(tool, everything)
    assert json.loads(str(answer.content)) == {"got": everything}


@pytest.mark.parametrize("arguments", [{"foreign": "x"}, {"name": 3}])
def test_the_input_schema_accepts_what_the_spec_does(
    toy: Callable[[str], BaseTool], arguments: dict[str, Any]
) -> None:
    tool = toy("echo")
    model = tool.get_input_schema()
    model(**{"from": "x", "a-b": "y"})
    with pytest.raises(ValueError, match=r"not a parameter|must be a string"):
        model(**arguments)
    assert model.model_json_schema() == tool.args_schema


def test_results_are_text(toy: Callable[[str], BaseTool]) -> None:
    assert toy("rows").invoke({}) == '["é", {"a": 1}, null]'
    assert through_tool_node(toy("rows"), {}).content == '["é", {"a": 1}, null]'
    assert toy("text").invoke({}) == "plain"
    assert toy("nothing").invoke({}) == "null"
    assert toy("blocks").invoke({}) == [{"type": "text", "text": "hello"}]


def test_errors_are_tool_errors(toy: Callable[[str], BaseTool]) -> None:
    answer = through_tool_node(toy("fails"), {})
    assert (answer.status, answer.content) == ("error", "not today")
    assert toy("fails").invoke({}) == "not today"
    strict = toy("fails").model_copy(update={"handle_tool_error": False})
    with pytest.raises(ToolException, match="not today"):
        strict.invoke({})


def test_an_exceptions_text_stays_in_the_log(toy: Callable[[str], BaseTool]) -> None:
    answer = through_tool_node(toy("breaks"), {})
    assert answer.status == "error"
    assert "hunter2" not in str(answer.content)


def test_sync_invoke_within_a_running_loop(toy: Callable[[str], BaseTool]) -> None:
    tool = toy("setting")
    setting = (
        sys.modules["handlers.toy"].SETTING if "handlers.toy" in sys.modules else None
    )
    assert setting is None  # A handler is imported when it is first called.
    json.loads(tool.invoke({}))
    setting = sys.modules["handlers.toy"].SETTING

    async def within() -> Any:
        setting.set("from the caller")
        return json.loads(tool.invoke({}))

    # It runs beside the loop, in the context of its caller.
    got = asyncio.run(within())
    assert got["setting"] == "from the caller"
    assert got["thread"] != "MainThread"


def test_a_cancelled_task_ends_the_handler(toy: Callable[[str], BaseTool]) -> None:
    async def reached(what: str) -> None:
        async with asyncio.timeout(20):
            while what not in getattr(sys.modules.get("handlers.toy"), "SEEN", ()):
                await asyncio.sleep(0.01)

    async def within() -> None:
        task = asyncio.create_task(toy("waits").ainvoke({}))
        await reached("begun")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await reached("cancelled")

    asyncio.run(within())

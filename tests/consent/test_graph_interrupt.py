"""An agent of LangChain stops for a person, and goes on with the answer."""

from __future__ import annotations

import asyncio
import importlib
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from tests.consent.counters import Shop
from tests.langchain.test_langchain_agent import ScriptedModel, tool_calls
from toolcast_runtime import Registry

THREAD: Any = {"configurable": {"thread_id": "1"}}


def agent_of(registry: Registry, *said: AIMessage, saver: Any = None) -> Any:
    """An agent with the shop's tools whose model says this."""
    assert registry.package == "generated.shop"
    tools = importlib.import_module("generated.shop.langchain_tools")
    model = ScriptedModel(
        messages=iter([*said, AIMessage("done")]), disable_streaming=True
    )
    return create_agent(model, tools.get_langchain_tools("desk"), checkpointer=saver)


def question_of(state: Any) -> dict[str, Any]:
    """What the person is shown where the graph has stopped."""
    (stopped,) = state["__interrupt__"]
    value: dict[str, Any] = stopped.value
    return value


def read(state: Any) -> list[str]:
    return [str(m.content) for m in state["messages"] if isinstance(m, ToolMessage)]


REFUND = ("refund_order", {"order_id": "A-1"})
GO: Any = {"messages": [HumanMessage("go")]}


def test_the_graph_stops_and_goes_on(registry: Registry, shop: Shop) -> None:
    agent = agent_of(registry, tool_calls(REFUND), saver=InMemorySaver())
    shown = question_of(agent.invoke(GO, THREAD))
    assert shown["message"].startswith("Pay this order back?")
    assert shown["arguments"] == {"order_id": "A-1"} and shop.done == []
    answer = {"action": "accept", "content": {"approve": True}}
    state = agent.invoke(
        Command(resume={"question": shown["question"], **answer}), THREAD
    )
    assert read(state) == ["refunded A-1 None"] and len(shop.done) == 1
    assert shop.approvals("client", "tool", "action") == [
        ("desk", "refund_order", "accept")
    ]


def test_an_async_graph_stops_and_goes_on(registry: Registry, shop: Shop) -> None:
    agent = agent_of(registry, tool_calls(REFUND), saver=InMemorySaver())

    async def run() -> Any:
        shown = question_of(await agent.ainvoke(GO, THREAD))
        answer = {"action": "accept", "content": {"approve": True}}
        resumed = {"question": shown["question"], **answer}
        return await agent.ainvoke(Command(resume=resumed), THREAD)

    assert read(asyncio.run(run())) == ["refunded A-1 None"] and len(shop.done) == 1


def test_a_handler_asks_twice(registry: Registry, shop: Shop) -> None:
    agent = agent_of(
        registry,
        tool_calls(("book_table", {"day": "Monday"})),
        saver=InMemorySaver(),
    )
    state = agent.invoke(GO, THREAD)
    for content in ({"seats": 2}, {"place": "garden"}):
        given = {"question": question_of(state)["question"], "action": "accept"}
        state = agent.invoke(Command(resume={**given, "content": content}), THREAD)
    assert read(state) == ["booked Monday 2 garden"] and len(shop.done) == 1


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"action": "decline"}, "the user declined"),
        ({"action": "accept", "content": {"approve": False}}, "the user declined"),
        ({"action": "accept", "content": {}}, "does not match the form"),
        ({"question": "other", "action": "accept"}, "to another question"),
        ({"action": "yes"}, "an invalid answer"),
        ("yes", "an invalid answer"),
        (True, "an invalid answer"),
    ],
)
def test_everything_else_is_a_no_to_a_graph(
    registry: Registry, shop: Shop, given: Any, said: str
) -> None:
    agent = agent_of(registry, tool_calls(REFUND), saver=InMemorySaver())
    shown = question_of(agent.invoke(GO, THREAD))
    if isinstance(given, dict):
        given = {"question": shown["question"], **given}
    state = agent.invoke(Command(resume=given), THREAD)
    assert said in read(state)[0] and shop.done == []


def test_nobody_is_asked_without_a_graph_that_can_go_on(
    registry: Registry, shop: Shop
) -> None:
    refused = "no user can be asked outside a graph with a checkpointer"
    (tool,) = [t for t in agent_tools() if t.name == "refund_order"]
    assert refused in tool.invoke({"order_id": "A-1"})
    assert shop.done == []


def agent_tools() -> list[Any]:
    tools = importlib.import_module("generated.shop.langchain_tools")
    found: list[Any] = tools.get_langchain_tools("desk")
    return found


def test_a_graph_without_a_memory_only_stops(registry: Registry, shop: Shop) -> None:
    agent = agent_of(registry, tool_calls(REFUND))
    agent.invoke(GO)
    assert shop.done == []


TWO = tool_calls(REFUND, ("refund_order", {"order_id": "B-2"}))
YES = {"action": "accept", "content": {"approve": True}}


def one_node(registry: Registry, *order: bool) -> Any:
    """A graph whose node makes all calls of a message, and is run again for each question.

    Each time in order, or in this one.
    """
    in_order = [*order, *[True] * 9]
    assert registry.package == "generated.shop"
    graph = StateGraph(MessagesState)
    tools = {tool.name: tool for tool in agent_tools()}

    def call_all(state: MessagesState) -> Any:
        made = state["messages"][-1].tool_calls
        return {
            "messages": [
                tools[call["name"]].invoke({**call, "type": "tool_call"})
                for call in (made if in_order.pop(0) else reversed(made))
            ]
        }

    graph.add_node("tools", call_all)
    graph.add_edge(START, "tools")
    return graph.compile(checkpointer=InMemorySaver())


def test_a_node_that_is_run_again_repeats_no_call(
    registry: Registry, shop: Shop
) -> None:
    """What was allowed and done before the node's next question is not done again by it."""
    graph = one_node(registry)
    state = graph.invoke({"messages": [TWO]}, THREAD)
    while "__interrupt__" in state:
        given = {"question": question_of(state)["question"], **YES}
        state = graph.invoke(Command(resume=given), THREAD)
    assert shop.done == ["refunded A-1 None", "refunded B-2 None"]
    assert "has already been used" in read(state)[0]
    assert read(state)[1] == "refunded B-2 None"


def test_a_checkpoint_that_is_run_again_repeats_no_call(
    registry: Registry, shop: Shop
) -> None:
    graph = one_node(registry)
    state = graph.invoke({"messages": [tool_calls(REFUND)]}, THREAD)
    given = {"question": question_of(state)["question"], **YES}
    stopped = graph.get_state(THREAD).config
    graph.invoke(Command(resume=given), THREAD)
    state = graph.invoke(Command(resume=given), stopped)
    assert shop.done == ["refunded A-1 None"]


def test_each_of_equal_calls_takes_its_own_yes(registry: Registry, shop: Shop) -> None:
    agent = agent_of(registry, tool_calls(REFUND, REFUND), saver=InMemorySaver())
    state = agent.invoke(GO, THREAD)
    first, second = state["__interrupt__"]
    given = {"question": first.value["question"], **YES}
    state = agent.invoke(Command(resume={first.id: given, second.id: given}), THREAD)
    assert len(shop.done) == 1


def test_an_answer_is_one_to_all_of_the_arguments(
    registry: Registry, shop: Shop
) -> None:
    """Two calls look alike where only their beginnings are shown."""
    same = "x" * 600
    pair = tool_calls(*(("refund_order", {"order_id": same + end}) for end in "AB"))
    graph = one_node(registry, True, False)
    state = graph.invoke({"messages": [pair]}, THREAD)
    given = {"question": question_of(state)["question"], **YES}
    state = graph.invoke(Command(resume=given), THREAD)
    assert shop.done == []

"""LangGraph agents that interrupt for a confirmation and resume with the answer."""

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

from tests.consent.shop_clients import YES, Shop
from tests.langchain.test_langchain_agent import ScriptedModel, tool_calls
from toolcast_runtime import Registry

THREAD: Any = {"configurable": {"thread_id": "1"}}


def make_agent(registry: Registry, *replies: AIMessage, saver: Any = None) -> Any:
    """Return an agent with the shop's tools and a model that sends these replies."""
    assert registry.package == "generated.shop"
    messages = iter([*replies, AIMessage("done")])
    model = ScriptedModel(messages=messages, disable_streaming=True)
    return create_agent(model, load_tools(), checkpointer=saver)


def get_interrupt(state: Any) -> dict[str, Any]:
    """Return the value of the graph's interrupt, which has the question."""
    (interrupt,) = state["__interrupt__"]
    value: dict[str, Any] = interrupt.value
    return value


def get_tool_messages(state: Any) -> list[str]:
    """Return the text of each tool message."""
    return [str(m.content) for m in state["messages"] if isinstance(m, ToolMessage)]


REFUND = ("refund_order", {"order_id": "A-1"})
START_INPUT: Any = {"messages": [HumanMessage("go")]}


def test_langgraph_interrupts_for_confirmation_and_runs_the_tool_on_approval(
    registry: Registry, shop: Shop
) -> None:
    """The interrupt has the question and the arguments; the approval is recorded."""
    agent = make_agent(registry, tool_calls(REFUND), saver=InMemorySaver())
    interrupt = get_interrupt(agent.invoke(START_INPUT, THREAD))
    assert interrupt["message"].startswith("Pay this order back?")
    assert interrupt["arguments"] == {"order_id": "A-1"} and shop.side_effects == []
    answer = {"question": interrupt["question"], **YES}
    state = agent.invoke(Command(resume=answer), THREAD)
    assert get_tool_messages(state) == ["refunded A-1 None"]
    assert len(shop.side_effects) == 1
    approvals = shop.list_approvals("client", "tool", "action")
    assert approvals == [("desk", "refund_order", "accept")]


def test_async_langgraph_interrupts_for_confirmation_and_runs_the_tool_on_approval(
    registry: Registry, shop: Shop
) -> None:
    agent = make_agent(registry, tool_calls(REFUND), saver=InMemorySaver())

    async def run() -> Any:
        interrupt = get_interrupt(await agent.ainvoke(START_INPUT, THREAD))
        answer = {"question": interrupt["question"], **YES}
        return await agent.ainvoke(Command(resume=answer), THREAD)

    assert get_tool_messages(asyncio.run(run())) == ["refunded A-1 None"]
    assert len(shop.side_effects) == 1


def test_langgraph_interrupts_for_each_question_when_a_handler_asks_two(
    registry: Registry, shop: Shop
) -> None:
    call = tool_calls(("book_table", {"day": "Monday"}))
    agent = make_agent(registry, call, saver=InMemorySaver())
    state = agent.invoke(START_INPUT, THREAD)
    for content in ({"seats": 2}, {"place": "garden"}):
        answer = {"question": get_interrupt(state)["question"], "action": "accept"}
        state = agent.invoke(Command(resume={**answer, "content": content}), THREAD)
    assert get_tool_messages(state) == ["booked Monday 2 garden"]
    assert len(shop.side_effects) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"action": "decline"}, "the user declined"),
        ({"action": "accept", "content": {"approve": False}}, "the user declined"),
        ({"question": "other", "action": "accept"}, "to another question"),
        ({"action": "yes"}, "an invalid answer"),
        ("yes", "an invalid answer"),
    ],
)
def test_langgraph_resumed_without_approval_does_not_run_the_tool(
    registry: Registry, shop: Shop, answer: Any, error: str
) -> None:
    agent = make_agent(registry, tool_calls(REFUND), saver=InMemorySaver())
    interrupt = get_interrupt(agent.invoke(START_INPUT, THREAD))
    if isinstance(answer, dict):
        answer = {"question": interrupt["question"], **answer}
    state = agent.invoke(Command(resume=answer), THREAD)
    assert error in get_tool_messages(state)[0] and shop.side_effects == []


def test_confirmed_langchain_tool_refuses_to_run_outside_a_langgraph_graph_with_checkpointer(
    registry: Registry, shop: Shop
) -> None:
    error = "no user can be asked outside a graph with a checkpointer"
    (tool,) = [tool for tool in load_tools() if tool.name == "refund_order"]
    assert error in tool.invoke({"order_id": "A-1"})
    assert shop.side_effects == []


def load_tools() -> list[Any]:
    tools = importlib.import_module("generated.shop.langchain_tools")
    shop_tools: list[Any] = tools.get_langchain_tools("desk")
    return shop_tools


def test_langgraph_without_checkpointer_runs_no_tool_that_needs_confirmation(
    registry: Registry, shop: Shop
) -> None:
    agent = make_agent(registry, tool_calls(REFUND))
    agent.invoke(START_INPUT)
    assert shop.side_effects == []


TWO_REFUNDS = tool_calls(REFUND, ("refund_order", {"order_id": "B-2"}))


def make_single_node_graph(registry: Registry, *is_forward: bool) -> Any:
    """Return a graph with one node that runs all tool calls of the last message.

    The node runs again after each question: by default in order, or per run in reverse
    order if `is_forward` is false.
    """
    directions = [*is_forward, *[True] * 9]
    assert registry.package == "generated.shop"
    graph = StateGraph(MessagesState)
    tools = {tool.name: tool for tool in load_tools()}

    def call_all(state: MessagesState) -> Any:
        calls = state["messages"][-1].tool_calls
        calls = calls if directions.pop(0) else calls[::-1]
        typed = [{**call, "type": "tool_call"} for call in calls]
        return {"messages": [tools[call["name"]].invoke(call) for call in typed]}

    graph.add_node("tools", call_all)
    graph.add_edge(START, "tools")
    return graph.compile(checkpointer=InMemorySaver())


def test_langgraph_node_that_runs_again_does_not_repeat_an_approved_call(
    registry: Registry, shop: Shop
) -> None:
    """It refuses the call of the first run: the approval has already been used."""
    graph = make_single_node_graph(registry)
    state = graph.invoke({"messages": [TWO_REFUNDS]}, THREAD)
    while "__interrupt__" in state:
        answer = {"question": get_interrupt(state)["question"], **YES}
        state = graph.invoke(Command(resume=answer), THREAD)
    assert shop.side_effects == ["refunded A-1 None", "refunded B-2 None"]
    assert "has already been used" in get_tool_messages(state)[0]
    assert get_tool_messages(state)[1] == "refunded B-2 None"


def test_langgraph_checkpoint_resumed_twice_runs_the_approved_call_once(
    registry: Registry, shop: Shop
) -> None:
    graph = make_single_node_graph(registry)
    state = graph.invoke({"messages": [tool_calls(REFUND)]}, THREAD)
    answer = {"question": get_interrupt(state)["question"], **YES}
    checkpoint = graph.get_state(THREAD).config
    graph.invoke(Command(resume=answer), THREAD)
    state = graph.invoke(Command(resume=answer), checkpoint)
    assert shop.side_effects == ["refunded A-1 None"]


def test_langgraph_answer_approves_only_one_call_when_two_tool_calls_are_equal(
    registry: Registry, shop: Shop
) -> None:
    agent = make_agent(registry, tool_calls(REFUND, REFUND), saver=InMemorySaver())
    state = agent.invoke(START_INPUT, THREAD)
    first, second = state["__interrupt__"]
    answer = {"question": first.value["question"], **YES}
    state = agent.invoke(Command(resume={first.id: answer, second.id: answer}), THREAD)
    assert len(shop.side_effects) == 1


def test_langgraph_approval_does_not_apply_to_a_call_with_other_long_arguments(
    registry: Registry, shop: Shop
) -> None:
    """The questions of both calls look equal, since they show only 500 characters."""
    prefix = "x" * 600
    calls = [("refund_order", {"order_id": prefix + suffix}) for suffix in "AB"]
    graph = make_single_node_graph(registry, True, False)
    state = graph.invoke({"messages": [tool_calls(*calls)]}, THREAD)
    answer = {"question": get_interrupt(state)["question"], **YES}
    state = graph.invoke(Command(resume=answer), THREAD)
    assert shop.side_effects == []

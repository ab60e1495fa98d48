"""An agent with a scripted model that calls LangChain tools on a real store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from generated.kirishima.langchain_tools import get_langchain_tools

ROOT = Path(__file__).parents[2]


class ScriptedModel(GenericFakeChatModel):
    """A model that returns scripted messages and records its requests."""

    requests: list[dict[str, Any]] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **settings: Any) -> Any:
        converted = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=converted, **settings)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
    ) -> Any:
        self.requests.append({"messages": list(messages), **options})
        return super()._generate(
            messages, stop=stop, run_manager=run_manager, **options
        )


def tool_calls(*calls: tuple[str, dict[str, Any]]) -> AIMessage:
    """Return a model message that calls tools."""
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": arguments, "id": f"call-{number}"}
            for number, (name, arguments) in enumerate(calls)
        ],
    )


def run_agent(script: Iterator[AIMessage]) -> tuple[ScriptedModel, list[ToolMessage]]:
    """Run an agent; return its model and the messages of the tools."""
    model = ScriptedModel(messages=script, disable_streaming=True)
    agent = create_agent(model, get_langchain_tools("internal"))
    result = agent.invoke({"messages": [HumanMessage("go")]})
    assert result["messages"][-1].content == "done"
    return model, [m for m in result["messages"] if isinstance(m, ToolMessage)]


def test_langchain_agent_finds_a_memory_that_it_stored(tmp_path: Path) -> None:
    fact = "The user's sister Ana lives in Lisbon."
    create = {"action": "create", "memory": fact, "keywords": ["Ana", "Lisbon"]}
    search = {"action": "search", "keywords": ["Lisbon"]}
    script = [
        tool_calls(("memory", create)),
        tool_calls(("memory", search)),
        AIMessage("done"),
    ]

    model, messages = run_agent(iter(script))

    assert [message.status for message in messages] == ["success", "success"]
    result = json.loads(str(messages[1].content))
    assert [memory["memory"] for memory in result["memories"]] == [fact]
    with sqlite3.connect(tmp_path / "kirishima_data" / "kirishima.sqlite3") as store:
        assert store.execute("SELECT text FROM memories").fetchall() == [(fact,)]
    # The second request of the model ends with the result of the first call.
    assert model.requests[1]["messages"][-1].content == messages[0].content


def test_langchain_agent_model_receives_exactly_the_spec_parameter_schemas() -> None:
    model, _ = run_agent(iter([AIMessage("done")]))

    schemas = {
        tool["function"]["name"]: tool["function"]
        for tool in model.requests[0]["tools"]
    }
    folder = ROOT / "specs" / "kirishima"
    paths = [path for path in folder.glob("*.yaml") if path.stem != "toolset"]
    assert set(schemas) == {path.stem for path in paths}
    for path in paths:
        spec = yaml.safe_load(path.read_text(encoding="utf-8"))
        expected = {"properties": {}, **spec["parameters"]}
        if "properties" in spec["parameters"]:
            expected = spec["parameters"]
        # The comparison as text includes the order of the keys.
        parameters = schemas[path.stem]["parameters"]
        assert json.dumps(parameters) == json.dumps(expected)
        assert schemas[path.stem]["description"] == spec["description"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"action": "create"}, "`memory` is required"),
        ({"action": "get", "memory_id": "9"}, "no memory"),
        ({"action": "burn"}, "must be one of"),
        ({"action": "list", "limit": "5"}, "an integer"),
    ],
)
def test_failed_langchain_agent_tool_call_sends_its_error_to_the_model(
    arguments: dict[str, Any], error: str
) -> None:
    script = iter([tool_calls(("memory", arguments)), AIMessage("done")])

    model, [message] = run_agent(script)

    assert message.status == "error"
    assert error in str(message.content)
    assert model.requests[1]["messages"][-1].content == message.content


def test_failed_agent_call_does_not_affect_a_valid_call_in_the_same_message() -> None:
    valid = {"action": "create", "memory": "The user drinks tea."}
    script = [tool_calls(("memory", valid), ("memory", {})), AIMessage("done")]

    _, messages = run_agent(iter(script))

    assert {message.tool_call_id: message.status for message in messages} == {
        "call-0": "success",
        "call-1": "error",
    }

"""An agent with a scripted model works with the wrappers on a real store."""

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
    """Says what the script says, and keeps what it was shown."""

    seen: list[dict[str, Any]] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **settings: Any) -> Any:
        shown = [convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=shown, **settings)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **shown: Any
    ) -> Any:
        self.seen.append({"messages": list(messages), **shown})
        return super()._generate(messages, stop=stop, run_manager=run_manager, **shown)


def calls(*named: tuple[str, dict[str, Any]]) -> AIMessage:
    """A message of the model that calls tools."""
    return AIMessage(
        "",
        tool_calls=[
            {"name": name, "args": arguments, "id": f"call-{number}"}
            for number, (name, arguments) in enumerate(named)
        ],
    )


def run_agent(script: Iterator[AIMessage]) -> tuple[ScriptedModel, list[ToolMessage]]:
    """The model after the run, and what the tools answered."""
    model = ScriptedModel(messages=script, disable_streaming=True)
    agent = create_agent(model, get_langchain_tools("internal"))
    result = agent.invoke({"messages": [HumanMessage("go")]})
    assert result["messages"][-1].content == "done"
    return model, [m for m in result["messages"] if isinstance(m, ToolMessage)]


def test_a_memory_that_the_agent_creates_is_found_again(tmp_path: Path) -> None:
    fact = "The user's sister Ana lives in Lisbon."
    create = {"action": "create", "memory": fact, "keywords": ["Ana", "Lisbon"]}
    search = {"action": "search", "keywords": ["Lisbon"]}
    script = [calls(("memory", create)), calls(("memory", search)), AIMessage("done")]

    model, answers = run_agent(iter(script))

    assert [answer.status for answer in answers] == ["success", "success"]
    found = json.loads(str(answers[1].content))
    assert [memory["memory"] for memory in found["memories"]] == [fact]
    with sqlite3.connect(tmp_path / "kirishima_data" / "kirishima.sqlite3") as store:
        assert store.execute("SELECT text FROM memories").fetchall() == [(fact,)]
    # The answer of the first call is what the model saw before the second.
    assert model.seen[1]["messages"][-1].content == answers[0].content


def test_the_model_is_shown_exactly_the_specs_schemas() -> None:
    model, _ = run_agent(iter([AIMessage("done")]))

    shown = {
        tool["function"]["name"]: tool["function"] for tool in model.seen[0]["tools"]
    }
    folder = ROOT / "specs" / "kirishima"
    paths = [path for path in folder.glob("*.yaml") if path.stem != "toolset"]
    assert set(shown) == {path.stem for path in paths}
    for path in paths:
        spec = yaml.safe_load(path.read_text(encoding="utf-8"))
        expected = {"properties": {}, **spec["parameters"]}
        if "properties" in spec["parameters"]:
            expected = spec["parameters"]
        # As text, so that the order of the keys counts.
        parameters = shown[path.stem]["parameters"]
        assert json.dumps(parameters) == json.dumps(expected)
        assert shown[path.stem]["description"] == spec["description"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param({"action": "create"}, "`memory` is required", id="missing"),
        pytest.param({"action": "get", "memory_id": "9"}, "no memory", id="handler"),
        pytest.param({"action": "burn"}, "must be one of", id="enum"),
        pytest.param({"action": "list", "limit": "5"}, "an integer", id="type"),
    ],
)
def test_a_failing_call_is_told_to_the_model(
    arguments: dict[str, Any], said: str
) -> None:
    script = iter([calls(("memory", arguments)), AIMessage("done")])

    model, [answer] = run_agent(script)

    assert answer.status == "error"
    assert said in str(answer.content)
    assert model.seen[1]["messages"][-1].content == answer.content


def test_good_and_bad_calls_side_by_side() -> None:
    good = {"action": "create", "memory": "The user drinks tea."}
    script = [calls(("memory", good), ("memory", {})), AIMessage("done")]

    _, answers = run_agent(iter(script))

    assert {answer.tool_call_id: answer.status for answer in answers} == {
        "call-0": "success",
        "call-1": "error",
    }

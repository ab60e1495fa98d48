"""Kirishima's agent loop with a scripted model, an external MCP server and the ledger."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from examples.kirishima.brain import respond
from generated.kirishima import registry
from tests.external.servers.http_servers import PersonalServer, run_personal_server

TOKEN = "hunter2-hunter2"


def build_tool_calls(*tool_calls: tuple[str, Any]) -> dict[str, Any]:
    """Return a message of the model with these tool calls."""
    calls = []
    for number, (name, arguments) in enumerate(tool_calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": text}
        calls.append({"id": f"call_{number}", "type": "function", "function": function})
    return {"role": "assistant", "content": None, "tool_calls": calls}


def build_text(text: str) -> dict[str, Any]:
    """Return a message of the model with text."""
    return {"role": "assistant", "content": text}


class Model:
    """A scripted model that records the requests it receives."""

    def __init__(self) -> None:
        self.script: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []

    def get_tool_names(self, turn: int = 0) -> list[str]:
        """Return the names of the tools in a request."""
        return [tool["function"]["name"] for tool in self.requests[turn]["tools"]]

    def get_system_prompt(self, turn: int = -1) -> str:
        """Return the system prompt, which must be the first message and occur once."""
        [first, *rest] = self.requests[turn]["messages"]
        assert first["role"] == "system"
        assert "system" not in [message["role"] for message in rest]
        return str(first["content"])

    def get_tool_results(self) -> list[Any]:
        """Return the results of tool calls in the latest request."""
        messages = self.requests[-1]["messages"]
        return [json.loads(m["content"]) for m in messages if m["role"] == "tool"]


@pytest.fixture
def model(serve: Any, reply: Any, monkeypatch: pytest.MonkeyPatch) -> Model:
    """Serve a scripted model over HTTP and set it as the brain's endpoint."""
    model = Model()

    def respond(request: Any) -> Any:
        model.requests.append(request.body)
        turn = min(len(model.requests), len(model.script)) - 1
        return reply(200, {"choices": [{"message": model.script[turn]}]})

    monkeypatch.setenv("BRAIN_URL", f"{serve(respond).url}/v1")
    monkeypatch.setenv("BRAIN_MODEL", "scripted")
    return model


@pytest.fixture(scope="module")
def personal() -> Iterator[PersonalServer]:
    """Run the external MCP server of calendar, contacts, mail and lists."""
    with run_personal_server("--token", TOKEN) as server:
        yield server


@pytest.fixture
async def ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personal: PersonalServer
) -> AsyncIterator[Path]:
    """Yield the ledger's file, with new connections of the registry."""
    path = tmp_path / "ledger.sqlite3"
    monkeypatch.setenv("KIRISHIMA_LEDGER", str(path))
    await registry.REGISTRY.close()
    # The cached ledger writer may use another test's file.
    [toolset] = registry.REGISTRY.toolsets
    monkeypatch.delitem(vars(toolset), "calls", raising=False)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", personal.url)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_TOKEN", TOKEN)
    yield path
    await registry.REGISTRY.close()


async def read_calls(path: Path) -> list[tuple[str, str, str]]:
    """Return tool, client and outcome of the calls in the ledger."""
    await registry.REGISTRY.close()
    with closing(sqlite3.connect(path)) as database:
        query = "SELECT tool, client, outcome FROM calls ORDER BY started, tool"
        return list(database.execute(query))


async def test_agent_loop_calls_local_and_external_tools(
    model: Model, ledger: Path
) -> None:
    note = {"action": "create", "text": "Call her", "date": "2030-05-01T20:00:00"}
    shopping = {"action": "create_list", "title": "Shopping"}
    model.script = [
        build_tool_calls(("stickynotes", note), ("lists", shopping)),
        build_tool_calls(("lists", {"action": "list_lists"})),
        build_text("I put it on a note, and your shopping list is there."),
    ]
    answer = await respond("Remind me to call grandma, and make a shopping list.")
    assert answer == "I put it on a note, and your shopping list is there."
    # The tools of every turn, then only the tools that match the message.
    tool_names = model.get_tool_names()
    assert tool_names[:3] == ["get_personality", "manage_prompt", "memory"]
    assert {"stickynotes", "lists"} <= set(tool_names)
    assert not {"github_issue", "smarthome"} & set(tool_names)
    created, listed = model.get_tool_results()[1], model.get_tool_results()[2]
    assert created["result"]["created"]["title"] == "Shopping"
    assert listed["result"]["found"] == [created["result"]["created"]]
    assert all(result["error"] is None for result in model.get_tool_results())
    assert sorted(await read_calls(ledger)) == [
        ("lists", "internal", "ok"),
        ("lists", "internal", "ok"),
        ("stickynotes", "internal", "ok"),
    ]


async def test_agent_loop_system_prompt_has_guidance_for_exactly_the_selected_local_tools(
    model: Model, ledger: Path
) -> None:
    model.script = [build_text("Done.")]
    await respond("Remind me tomorrow at 9 to water the plants")
    prompt = model.get_system_prompt()
    headings = re.findall("^### (.*)$", prompt, re.MULTILINE)
    own = {tool.name for tool in registry.REGISTRY.local_tools}
    assert set(headings) == set(model.get_tool_names()) & own
    assert {"memory", "stickynotes"} <= set(headings)
    assert "smarthome" not in headings
    assert "Search before you create" in prompt


async def test_line_added_by_manage_prompt_is_in_the_system_prompt_from_the_next_message(
    model: Model, ledger: Path
) -> None:
    arguments = {
        "action": "add",
        "prompt_text": "Answer in Dutch.",
        "reasoning": "The user asked for it.",
    }
    model.script = [
        build_tool_calls(("manage_prompt", arguments)),
        build_text("Goed."),
        build_text("Hallo."),
    ]
    await respond("Answer in Dutch from now on.")
    assert "Answer in Dutch." not in model.get_system_prompt(0)
    await respond("Hello")
    assert "- Answer in Dutch.\n" in model.get_system_prompt()
    await respond("Hello", client="external")
    assert "Answer in Dutch." not in model.get_system_prompt()


async def test_agent_loop_returns_invalid_tool_call_errors_to_the_model(
    model: Model, ledger: Path
) -> None:
    model.script = [
        build_tool_calls(
            ("lists", {"action": "burn"}),
            ("no_such_tool", {}),
            ("lists", "{not JSON"),
            ("lists", {"action": "create_list"}),
        ),
        build_text("Sorry."),
    ]
    assert await respond("Put milk on the shopping list.") == "Sorry."
    errors = [result["error"] for result in model.get_tool_results()]
    assert "`action` must be one of" in errors[0]
    assert errors[1:] == [
        "unknown tool `no_such_tool`",
        "the arguments are not JSON",
        "`title` is required for action `create_list`",
    ]
    assert ("lists", "internal", "error") in await read_calls(ledger)


async def test_agent_loop_hides_a_tool_denied_to_the_client_and_reports_it_as_unknown(
    model: Model, ledger: Path
) -> None:
    email = {"action": "send", "to": "a", "subject": "b", "content": "c"}
    model.script = [build_tool_calls(("email", email)), build_text("I cannot.")]
    await respond("Email Anna, and look at the calendar.", client="external")
    assert "email" not in model.get_tool_names()
    [result] = model.get_tool_results()
    assert result == {"result": None, "error": "unknown tool `email`"}


async def test_agent_loop_ends_after_8_turns(model: Model, ledger: Path) -> None:
    """The loop raises RuntimeError if the model still calls tools after 8 turns."""
    model.script = [build_tool_calls(("get_personality", {}))]
    with pytest.raises(RuntimeError, match="after 8 turns"):
        await respond("Good morning")
    assert len(model.requests) == 8


@pytest.mark.usefixtures("ledger")
async def test_get_personality_returns_the_default_and_calling_model_sections(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRAIN_MODEL", "gpt-5.1")
    model.script = [build_tool_calls(("get_personality", {})), build_text("Morning.")]
    await respond("Good morning")
    [result] = model.get_tool_results()
    assert list(result["result"]["style_sections"]) == ["default", "gpt-5"]

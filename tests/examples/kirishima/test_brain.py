"""The brain against a scripted model on loopback, with a real external server and ledger."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from examples.kirishima.brain import think
from generated.kirishima import registry
from tests.external.servers.http_servers import PersonalServer, run_personal_server

TOKEN = "hunter2-hunter2"


def calls(*wanted: tuple[str, Any]) -> dict[str, Any]:
    """An answer of the model that calls tools."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, (name, given) in enumerate(wanted)
        ],
    }


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


class Model:
    """What the model answers, turn by turn, and what it was asked."""

    def __init__(self) -> None:
        self.script: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.url = ""

    def offered(self, turn: int = 0) -> list[str]:
        return [tool["function"]["name"] for tool in self.asked[turn]["tools"]]

    def prompt(self, turn: int = -1) -> str:
        """The system prompt, which is the first message and there once."""
        [first, *rest] = self.asked[turn]["messages"]
        assert first["role"] == "system"
        assert "system" not in [message["role"] for message in rest]
        return str(first["content"])

    def told(self) -> list[Any]:
        """The results of calls that it was told last."""
        messages = self.asked[-1]["messages"]
        return [json.loads(m["content"]) for m in messages if m["role"] == "tool"]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    state = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            state.asked.append(json.loads(self.rfile.read(length)))
            answer = state.script[min(len(state.asked), len(state.script)) - 1]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"message": answer}]}).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Keeps the test's output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(
            target=listener.serve_forever, args=(0.01,), daemon=True
        ).start()
        state.url = f"http://127.0.0.1:{listener.server_port}/v1"
        monkeypatch.setenv("BRAIN_URL", state.url)
        monkeypatch.setenv("BRAIN_MODEL", "scripted")
        yield state
        listener.shutdown()


@pytest.fixture(scope="module")
def personal() -> Iterator[PersonalServer]:
    with run_personal_server("--token", TOKEN) as server:
        yield server


@pytest.fixture
async def ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, personal: PersonalServer
) -> AsyncIterator[Path]:
    """The ledger's file; the registry's connections are its test's own."""
    path = tmp_path / "ledger.sqlite3"
    monkeypatch.setenv("KIRISHIMA_LEDGER", str(path))
    await registry.REGISTRY.close()
    # What writes the ledger was made for another test's file.
    [toolset] = registry.REGISTRY.toolsets
    monkeypatch.delitem(vars(toolset), "calls", raising=False)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", personal.url)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_TOKEN", TOKEN)
    yield path
    await registry.REGISTRY.close()


async def rows(path: Path) -> list[tuple[str, str, str]]:
    await registry.REGISTRY.close()
    with closing(sqlite3.connect(path)) as database:
        question = "SELECT tool, client, outcome FROM calls ORDER BY started, tool"
        return list(database.execute(question))


async def test_own_and_external_tools_in_one_conversation(
    model: Model, ledger: Path
) -> None:
    model.script = [
        calls(
            (
                "stickynotes",
                {
                    "action": "create",
                    "text": "Call grandma",
                    "date": "2030-05-01T20:00:00",
                },
            ),
            ("lists", {"action": "create_list", "title": "Shopping"}),
        ),
        calls(("lists", {"action": "list_lists"})),
        says("I put it on a note, and your shopping list is there."),
    ]
    answer = await think("Remind me to call grandma, and make a shopping list.")
    assert answer == "I put it on a note, and your shopping list is there."
    # What is always offered and what fits, and no more.
    offered = model.offered()
    assert offered[:3] == ["get_personality", "manage_prompt", "memory"]
    assert {"stickynotes", "lists"} <= set(offered)
    assert not {"github_issue", "smarthome"} & set(offered)
    made, shown = model.told()[1], model.told()[2]
    assert made["result"]["created"]["title"] == "Shopping"
    assert shown["result"]["found"] == [made["result"]["created"]]
    assert all(told["error"] is None for told in model.told())
    assert sorted(await rows(ledger)) == [
        ("lists", "internal", "ok"),
        ("lists", "internal", "ok"),
        ("stickynotes", "internal", "ok"),
    ]


async def test_the_system_prompt_has_the_guidance_of_the_offered_tools(
    model: Model, ledger: Path
) -> None:
    model.script = [says("Done.")]
    await think("Remind me tomorrow at 9 to water the plants")
    prompt = model.prompt()
    headings = re.findall("^### (.*)$", prompt, re.MULTILINE)
    own = {tool.name for tool in registry.REGISTRY.local_tools}
    assert set(headings) == set(model.offered()) & own
    assert {"memory", "stickynotes"} <= set(headings)
    assert "smarthome" not in headings
    assert "Search before you create" in prompt


async def test_a_line_that_the_model_adds_holds_from_the_next_turn_on(
    model: Model, ledger: Path
) -> None:
    wish = {
        "action": "add",
        "prompt_text": "Answer in Dutch.",
        "reasoning": "The user asked for it.",
    }
    model.script = [calls(("manage_prompt", wish)), says("Goed."), says("Hallo.")]
    await think("Answer in Dutch from now on.")
    assert "Answer in Dutch." not in model.prompt(0)
    await think("Hello")
    assert "- Answer in Dutch.\n" in model.prompt()
    await think("Hello", client="external")
    assert "Answer in Dutch." not in model.prompt()


async def test_what_goes_wrong_is_told_the_model(model: Model, ledger: Path) -> None:
    model.script = [
        calls(
            ("lists", {"action": "burn"}),
            ("no_such_tool", {}),
            ("lists", "{not JSON"),
            ("lists", {"action": "create_list"}),
        ),
        says("Sorry."),
    ]
    assert await think("Put milk on the shopping list.") == "Sorry."
    errors = [told["error"] for told in model.told()]
    assert "`action` must be one of" in errors[0]
    assert errors[1:] == [
        "unknown tool `no_such_tool`",
        "the arguments are not JSON",
        "`title` is required for action `create_list`",
    ]
    assert ("lists", "internal", "error") in await rows(ledger)


async def test_a_client_gets_only_what_it_may_have(model: Model, ledger: Path) -> None:
    model.script = [
        calls(("email", {"action": "send", "to": "a", "subject": "b", "content": "c"})),
        says("I cannot."),
    ]
    await think("Email Anna, and look at the calendar.", client="external")
    assert "email" not in model.offered()
    assert model.told() == [{"result": None, "error": "unknown tool `email`"}]


async def test_a_model_without_end_is_ended(model: Model, ledger: Path) -> None:
    model.script = [calls(("get_personality", {}))]
    with pytest.raises(RuntimeError, match="after 8 turns"):
        await think("Good morning")
    assert len(model.asked) == 8


@pytest.mark.usefixtures("ledger")
@pytest.mark.parametrize(
    ("name", "section"), [("claude-sonnet-4", "claude"), ("gpt-5.1", "gpt-5")]
)
async def test_the_style_guide_is_that_of_the_model_that_asks(
    model: Model, monkeypatch: pytest.MonkeyPatch, name: str, section: str
) -> None:
    monkeypatch.setenv("BRAIN_MODEL", name)
    model.script = [calls(("get_personality", {})), says("Good morning.")]
    await think("Good morning")
    [told] = model.told()
    assert list(told["result"]["style_sections"]) == ["default", section]

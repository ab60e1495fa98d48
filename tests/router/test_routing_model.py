"""A scripted model on loopback: what it may say, and what counts as no choice."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.router.scripted_model import Script, completion, scripted
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.router import RoutedTool, Router
from toolcast_runtime.router.router import ChatModel, select_candidates

TOOLS = (RoutedTool("note", "Stores a note."), RoutedTool("lamp", "Switches a lamp."))
ALL = ("note", "lamp")
KEY = "sk-hunter2-hunter2"


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted() as state:
        yield state


async def test_the_model_chooses(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUTER_KEY", KEY)
    router = script.router(api_key="${ROUTER_KEY}", history=2)
    history = ["one", "two", "three"]
    route = await router.route("Make it bright", TOOLS, history)
    assert (route.names, route.doubt) == (("lamp",), "")
    [(asked, headers)] = script.asked
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["path"] == "/v1/chat/completions"
    shown = json.loads(asked["messages"][1]["content"])
    assert shown == {
        "tools": ["note: Stores a note.", "lamp: Switches a lamp."],
        "earlier messages": ["two", "three"],
        "message": "Make it bright",
    }
    schema = asked["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["tools"]["items"]["enum"] == ["note", "lamp"]


async def test_the_request_is_small_exact_and_wants_no_other_names(
    script: Script,
) -> None:
    long = [RoutedTool("long", "s" * 301), RoutedTool("t", "s" * 300)]
    await script.router().route("<" + "m" * 4_000, long, ["<" + "e" * 4_000, "e"])
    [(asked, _)] = script.asked
    shown = json.loads(asked["messages"][1].pop("content"))
    assert shown == {
        "tools": ["long: " + "s" * 300, "t: " + "s" * 300],
        "earlier messages": ["e" * 4_000, "e"],
        "message": "m" * 4_000,
    }
    del asked["messages"][0]["content"]
    assert asked == {
        "model": "small",
        "temperature": 0,
        "messages": [{"role": "system"}, {"role": "user"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "route",
                "strict": True,
                "schema": {
                    "type": "object",
                    "properties": {
                        "tools": {
                            "type": "array",
                            "items": {"type": "string", "enum": ["long", "t"]},
                        }
                    },
                    "required": ["tools"],
                    "additionalProperties": False,
                },
            },
        },
    }


async def test_a_model_is_shown_no_history_and_waited_for_five_seconds(
    script: Script,
) -> None:
    await script.router(history=0).route("x", TOOLS, ["one"])
    [(asked, headers)] = script.asked
    assert json.loads(asked["messages"][1]["content"])["earlier messages"] == []
    assert "authorization" not in headers
    model = ChatModel("http://x", "small")
    assert (model.timeout, model.history, model.api_key) == (5.0, 3, None)


async def test_a_million_bytes_of_an_answer_are_read(script: Script) -> None:
    script.body = completion('["lamp"]').ljust(1_000_000)
    assert (await script.router().route("x", TOOLS)).names == ("lamp",)
    script.body += b" "
    assert (await script.router().route("x", TOOLS)).doubt == (
        "the model's response has more than 1000000 bytes"
    )


async def test_the_model_is_shown_three_earlier_messages_unless_said_otherwise(
    script: Script,
) -> None:
    await script.router().route("x", TOOLS, ["one", "two", "three", "four"])
    [(asked, _)] = script.asked
    shown = json.loads(asked["messages"][1]["content"])
    assert shown["earlier messages"] == ["two", "three", "four"]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"tools": []}', ()),
        ('["note"]', ("note",)),
        ('  {"tools": ["lamp", "note", "lamp"]}  ', ("note", "lamp")),
    ],
)
async def test_a_choice_may_be_empty_a_bare_list_and_in_any_order(
    content: str, names: tuple[str, ...], script: Script
) -> None:
    script.body = completion(content)
    assert (await script.router().route("x", TOOLS)).names == names


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion("I would take the lamp."), "the model did not answer with JSON"),
        (completion('```json\n["lamp"]\n```'), "the model did not answer with JSON"),
        (completion('{"tools": ["lamp"'), "the model did not answer with JSON"),
        (completion(None), "the model did not answer with JSON"),
        (completion("[" * 100_000), "the model did not answer with JSON"),
        (
            completion('{"names": ["lamp"]}'),
            "the model did not answer with an array of names",
        ),
        (
            completion('{"tools": "lamp"}'),
            "the model did not answer with an array of names",
        ),
        (
            completion('{"tools": [1]}'),
            "the model did not answer with an array of names",
        ),
        (
            completion('{"tools": [["lamp"]]}'),
            "the model did not answer with an array of names",
        ),
        (
            completion('{"tools": ["lamp", "door"]}'),
            "the model selected tools that do not exist",
        ),
        (b"{}", "the model's response is not a chat completion"),
        (b'{"choices": []}', "the model's response is not a chat completion"),
        (b"null", "the model's response is not a chat completion"),
        (b"", "the model did not answer with JSON"),
        (b"\xff\xfe", "the model did not answer with JSON"),
        (b" " * 2_000_000, "the model's response has more than 1000000 bytes"),
    ],
)
async def test_everything_else_shows_every_tool_and_says_why(
    body: bytes, reason: str, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    script.body = body
    route = await script.router().route("x", TOOLS)
    assert (route.names, route.doubt) == (ALL, reason)
    said = f"router: {reason}; all 2 routed tools are offered"
    warnings = [r for r in caplog.records if r.levelno >= logging.WARNING]
    # Connections of other tests may log at any time.
    messages = [r.message for r in warnings if r.message.startswith("router")]
    assert messages == [said]


async def test_a_late_answer_is_none(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    script.delay = 5.0
    route = await script.router(timeout=0.3).route("x", TOOLS)
    assert route.names == ALL
    assert "router: the model did not answer within 0.3 s" in caplog.text


@pytest.mark.parametrize("status", [401, 404, 429, 500])
async def test_a_refusal_is_none_and_shows_no_key(
    status: int,
    script: Script,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ROUTER_KEY", KEY)
    script.status, script.body = status, f"bad key {KEY}".encode()
    router = script.router(api_key="${ROUTER_KEY}")
    assert (await router.route("x", TOOLS)).names == ALL
    assert f"the model answered with status {status}" in caplog.text
    assert KEY not in caplog.text


async def test_nobody_there_and_no_key_are_no_choice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gone = Router(ChatModel("http://127.0.0.1:9/v1", "small"))
    assert (await gone.route("x", TOOLS)).names == ALL
    assert "router: ConnectError; all 2 routed tools are offered" in caplog.text
    keyless = Router(ChatModel("http://127.0.0.1:9/v1", "small", "${NO_SUCH_KEY}"))
    assert (await keyless.route("x", TOOLS)).names == ALL
    assert "the environment variable NO_SUCH_KEY is not set" in caplog.text


async def test_without_an_address_tools_are_chosen_by_their_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ROUTER_URL", raising=False)
    router = Router(ChatModel("${ROUTER_URL:-}", "small"))
    assert (await router.route("switch the lamp", TOOLS)).names == ("lamp",)


async def test_a_cancelled_choice_is_cancelled(script: Script) -> None:
    import asyncio

    script.delay = 5.0
    waiting = asyncio.ensure_future(script.router().route("x", TOOLS))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_generated_registry_asks_the_model(
    script: Script,
    make_project: Callable[..., Any],
) -> None:
    spec = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.toy:toy\n"
    project = make_project(
        {"note": spec.format("Stores a note."), "lamp": spec.format("Makes light.")},
        toolset=f"router: {{base_url: '{script.url}', model: small}}\n"
        "targets: {registry: {}}\n",
        handlers="def toy(**arguments): return 1\n",
    )
    project.generate()
    code = (
        "from generated.toy.registry import get_routed_tools_catalog_sync, route_tools_sync\n"
        "catalog = get_routed_tools_catalog_sync()\n"
        "print(route_tools_sync('Make it bright', catalog), route_tools_sync('x'))\n"
    )
    done = project.run("-c", code)
    assert done.stdout == "['lamp'] ['lamp']\n", done.stderr
    assert len(script.asked) == 2


def test_tools_are_chosen_from_those_that_are_not_always_there() -> None:
    def tool(name: str, **more: Any) -> Tool:
        definition = {"inputSchema": {"title": name}}
        return Tool(name, f"S {name}", f"D {name}", definition, **more)

    listed = [tool("now", always=True), tool("note"), tool("lamp")]
    note = RoutedTool("note", "S note", "D note", "", {"title": "note"})
    lamp = RoutedTool("lamp", "S lamp", "D lamp", "", {"title": "lamp"})
    assert select_candidates(listed, None) == [note, lamp]
    catalog = {"lamp": "x", "gone": "It went.", "now": "y"}
    assert select_candidates(listed, catalog) == [
        lamp,
        RoutedTool("gone", "It went."),
        RoutedTool("now", "y"),
    ]

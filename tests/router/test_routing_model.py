"""Router and `toolcast select` with a model: requests, responses and failures."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.router.scripted_model import (
    ScriptedModel,
    encode_completion,
    run_scripted_model,
)
from tests.waiting import wait_until_async
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.router import RoutedTool, Router
from toolcast_runtime.router.router import ChatModel, select_candidates

TOOLS = (RoutedTool("note", "Stores a note."), RoutedTool("lamp", "Switches a lamp."))
ALL = ("note", "lamp")
KEY = "sk-hunter2-hunter2"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with run_scripted_model() as state:
        yield state


async def test_router_with_a_model_selects_its_choice_and_sends_it_tools_history_and_key(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROUTER_KEY", KEY)
    router = model.make_router(api_key="${ROUTER_KEY}", history=2)
    history = ["one", "two", "three"]
    route = await router.route("Make it bright", TOOLS, history)
    assert (route.names, route.doubt) == (("lamp",), "")
    [(body, headers)] = model.requests
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["path"] == "/v1/chat/completions"
    prompt = json.loads(body["messages"][1]["content"])
    assert prompt == {
        "tools": ["note: Stores a note.", "lamp: Switches a lamp."],
        "earlier messages": ["two", "three"],
        "message": "Make it bright",
    }


async def test_router_request_to_the_model_truncates_long_text_and_allows_only_tool_names(
    model: ScriptedModel,
) -> None:
    long = [RoutedTool("long", "s" * 301), RoutedTool("t", "s" * 300)]
    await model.make_router().route("<" + "m" * 4_000, long, ["<" + "e" * 4_000, "e"])
    [(body, _)] = model.requests
    prompt = json.loads(body["messages"][1].pop("content"))
    assert prompt == {
        "tools": ["long: " + "s" * 300, "t: " + "s" * 300],
        "earlier messages": ["e" * 4_000, "e"],
        "message": "m" * 4_000,
    }
    del body["messages"][0]["content"]
    response_format = body.pop("response_format")
    assert body == {
        "model": "small",
        "temperature": 0,
        "messages": [{"role": "system"}, {"role": "user"}],
    }
    assert response_format["type"] == "json_schema"
    names = {"type": "array", "items": {"type": "string", "enum": ["long", "t"]}}
    schema = {"type": "object", "properties": {"tools": names}, "required": ["tools"]}
    schema["additionalProperties"] = False
    expected = {"name": "route", "strict": True, "schema": schema}
    assert response_format["json_schema"] == expected


async def test_router_sends_three_earlier_messages_to_the_model_by_default_or_none(
    model: ScriptedModel,
) -> None:
    """The default timeout is five seconds."""
    for options, earlier in ({"history": 0}, []), ({}, ["two", "three", "four"]):
        router = model.make_router(**options)
        await router.route("x", TOOLS, ["one", "two", "three", "four"])
        body, headers = model.requests[-1]
        assert json.loads(body["messages"][1]["content"])["earlier messages"] == earlier
        assert "authorization" not in headers
    defaults = ChatModel("http://x", "small")
    assert (defaults.timeout, defaults.history, defaults.api_key) == (5.0, 3, None)


async def test_router_rejects_a_response_over_1_mb(model: ScriptedModel) -> None:
    model.body = encode_completion('["lamp"]').ljust(1_000_000)
    assert (await model.make_router().route("x", TOOLS)).names == ("lamp",)
    model.body += b" "
    assert (await model.make_router().route("x", TOOLS)).doubt == (
        "the model's response has more than 1000000 bytes"
    )


async def test_router_accepts_model_responses_as_object_or_array_in_any_length_and_order(
    model: ScriptedModel,
) -> None:
    """The selected tools are returned in the order of the catalog."""
    for content, names in (
        ('{"tools": []}', ()),
        ('["note"]', ("note",)),
        ('  {"tools": ["lamp", "note", "lamp"]}  ', ("note", "lamp")),
    ):
        model.body = encode_completion(content)
        assert (await model.make_router().route("x", TOOLS)).names == names


NOT_JSON = (
    "I would take the lamp.",
    '```json\n["lamp"]\n```',
    '{"tools": ["lamp"',
    None,
)
NOT_NAMES = ('{"names": ["lamp"]}', '{"tools": "lamp"}', '{"tools": [1]}')
INVALID_BODIES = {
    "the model did not answer with JSON": (
        *map(encode_completion, (*NOT_JSON, "[" * 100_000)),
        *(b"", b"\xff\xfe"),
    ),
    "the model did not answer with an array of names": (
        *map(encode_completion, (*NOT_NAMES, '{"tools": [["lamp"]]}')),
    ),
    "the model selected tools that do not exist": (
        encode_completion('{"tools": ["lamp", "door"]}'),
    ),
    "the model's response is not a chat completion": (
        *(b"{}", b'{"choices": []}', b"null"),
    ),
}


async def test_router_selects_all_tools_and_logs_the_reason_for_an_invalid_model_response(
    model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    for reason, bodies in INVALID_BODIES.items():
        for body in bodies:
            caplog.clear()
            model.body = body
            route = await model.make_router().route("x", TOOLS)
            assert (route.names, route.doubt) == (ALL, reason), body
            warnings = [r for r in caplog.records if r.levelno >= logging.WARNING]
            # Connections of other tests can log at any time.
            messages = [r.message for r in warnings if r.message.startswith("router")]
            assert messages == [f"router: {reason}; all 2 routed tools are offered"]


async def test_router_selects_all_tools_after_a_model_timeout(
    model: ScriptedModel, caplog: pytest.LogCaptureFixture
) -> None:
    model.delay = 5.0
    route = await model.make_router(timeout=0.3).route("x", TOOLS)
    assert route.names == ALL
    assert "router: the model did not answer within 0.3 s" in caplog.text


async def test_router_selects_all_tools_for_a_model_error_status_and_does_not_log_the_key(
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ROUTER_KEY", KEY)
    router = model.make_router(api_key="${ROUTER_KEY}")
    for status in (401, 404, 429, 500):
        model.status, model.body = status, f"bad key {KEY}".encode()
        assert (await router.route("x", TOOLS)).names == ALL
        assert f"the model answered with status {status}" in caplog.text
    assert KEY not in caplog.text


async def test_router_selects_all_tools_if_the_model_is_unreachable_or_its_key_is_missing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unreachable = Router(ChatModel("http://127.0.0.1:9/v1", "small"))
    assert (await unreachable.route("x", TOOLS)).names == ALL
    assert "router: ConnectError; all 2 routed tools are offered" in caplog.text
    keyless = Router(ChatModel("http://127.0.0.1:9/v1", "small", "${NO_SUCH_KEY}"))
    assert (await keyless.route("x", TOOLS)).names == ALL
    assert "the environment variable NO_SUCH_KEY is not set" in caplog.text


async def test_router_with_an_empty_model_url_selects_tools_by_the_lexical_ranking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ROUTER_URL", raising=False)
    router = Router(ChatModel("${ROUTER_URL:-}", "small"))
    assert (await router.route("switch the lamp", TOOLS)).names == ("lamp",)


async def test_cancelling_route_tools_cancels_the_request_to_the_routing_model(
    model: ScriptedModel,
) -> None:
    import asyncio

    model.delay = 5.0
    waiting = asyncio.ensure_future(model.make_router().route("x", TOOLS))
    await wait_until_async(lambda: model.requests)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_generated_registry_routes_tools_with_the_model_from_the_spec(
    model: ScriptedModel, make_project: Callable[..., Any]
) -> None:
    project = make_project(
        {name: spec.replace("none:none", "toy:toy") for name, spec in SPECS.items()},
        toolset=f"router: {{base_url: '{model.url}', model: small}}\n"
        "targets: {registry: {}}\n",
        handlers="def toy(**arguments): return 1\n",
    )
    project.generate()
    code = (
        "from generated.toy.registry import get_routed_tools_catalog_sync, route_tools_sync\n"
        "catalog = get_routed_tools_catalog_sync()\n"
        "print(route_tools_sync('Make it bright', catalog), route_tools_sync('x'))\n"
    )
    process = project.run("-c", code)
    assert process.stdout == "['lamp'] ['lamp']\n", process.stderr
    assert len(model.requests) == 2


def test_router_candidates_are_the_catalog_or_else_all_tools_without_always() -> None:
    """Results are in catalog order; a removed tool has only its summary."""

    def tool(name: str, **more: Any) -> Tool:
        definition = {"inputSchema": {"title": name}}
        return Tool(name, f"S {name}", f"D {name}", definition, **more)

    listed = [tool("now", always=True), tool("note"), tool("lamp")]
    note = RoutedTool("note", "S note", "D note", "", {"title": "note"})
    lamp = RoutedTool("lamp", "S lamp", "D lamp", "", {"title": "lamp"})
    assert select_candidates(listed, None) == [note, lamp]
    catalog = {"lamp": "x", "removed": "Not listed.", "now": "y"}
    assert select_candidates(listed, catalog) == [
        lamp,
        RoutedTool("removed", "Not listed."),
        RoutedTool("now", "y"),
    ]


TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.none:none\n"
NOTE = TOOL.format("Stores a note.") + (
    "cases: [{message: note that, near: [note the light], never: [lamp]}]\n"
)
SPECS = {"note": NOTE, "lamp": TOOL.format("Makes light.")}


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    """Return a project with two tools and a selection case."""
    return make_project(SPECS, toolset="targets: {registry: {}}\n")


def run_select(project: Any, model: ScriptedModel, *options: str) -> Any:
    """Run `toolcast select` with the scripted model."""
    return project.toolcast(
        "select", "--endpoint", model.url, "--model", "small", *options
    )


def test_select_command_sends_each_case_message_to_the_model_and_prints_failures(
    project: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is sent and not printed."""
    monkeypatch.setenv("MODEL_KEY", KEY)
    model.body = encode_completion('{"tools": ["note"]}')
    result = run_select(project, model, "--key-variable", "MODEL_KEY")
    assert result.returncode == 1, result.stderr
    assert result.stdout == (
        "specs/toy/note.yaml:5:\n"
        '  near miss "note the light"\n'
        "    `note` must not be chosen\n"
        "\n"
        "1 of 2 tools have a case; without a case: lamp\n"
        "toy: 1 of 2 messages pass\n"
    )
    contents = [request["messages"][1]["content"] for request, _ in model.requests]
    messages = {json.loads(content)["message"] for content in contents}
    assert messages == {"note that", "note the light"}
    keys = {headers["authorization"] for _, headers in model.requests}
    assert keys == {f"Bearer {KEY}"}
    assert KEY not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        (["lamp", "lamp"], ["but the model chose lamp", "`lamp` must not be chosen"]),
        ([], ["but the model chose no tool"]),
    ],
)
def test_select_command_reports_wrong_forbidden_and_missing_tools_in_the_model_choice(
    answer: list[str], problems: list[str], project: Any, model: ScriptedModel
) -> None:
    """A tool that the model repeats counts once."""
    model.body = encode_completion(json.dumps({"tools": answer}))
    result = run_select(project, model, "--format", "json")
    value = json.loads(result.stdout)
    [toolset] = value["toolsets"]
    assert result.returncode == 1 and not value["passes"]
    expected = [f"the case expects `note`, {problems[0]}", *problems[1:]]
    assert toolset["messages"][0]["problems"] == expected


def test_select_command_prints_the_models_choice_for_a_given_message(
    project: Any, model: ScriptedModel
) -> None:
    result = run_select(project, model, "make it bright")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("1 of 2 routed tools\n    - * lamp\n")


def test_select_command_with_model_option_fails_if_the_routers_url_is_empty(
    project: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    with (project.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write('router: {base_url: "${NO_SUCH_URL:-}", model: small}\n')
    result = project.toolcast("select", "--with-model")
    assert result.returncode == 2
    assert "`router.base_url` of `toy` is empty in this environment" in result.stderr


def test_select_command_reports_invalid_model_responses_as_error_not_as_failed_cases(
    project: Any, model: ScriptedModel
) -> None:
    model.body = encode_completion(json.dumps({"tools": ["door"]}))
    result = run_select(project, model)
    assert (result.returncode, result.stdout) == (2, "")
    assert "no answer: the model selected tools that do not exist" in result.stderr


def test_select_command_reports_an_unreachable_model_as_error(project: Any) -> None:
    arguments = ("select", "--endpoint", "http://127.0.0.1:9/v1", "--model", "small")
    result = project.toolcast(*arguments)
    assert result.returncode == 2
    reason = "no answer: the request failed (ConnectError)"
    assert f"the model failed for every message: {reason}" in result.stderr


def test_select_command_without_the_key_variable_fails_before_any_model_request(
    project: Any, model: ScriptedModel
) -> None:
    result = run_select(project, model, "--key-variable", "NO_SUCH_KEY")
    assert result.returncode == 2 and not model.requests
    assert "the environment variable NO_SUCH_KEY is not set" in result.stderr

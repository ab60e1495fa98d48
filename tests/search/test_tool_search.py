"""Tool search of a server: its listing, search results and calls through search."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client as SdkClient
from mcp.shared.exceptions import MCPError

from tests.router.scripted_model import encode_completion, run_scripted_model
from tests.runtime.packages import Package, definition
from tests.runtime.test_tool_providers import RecordingProvider, make_tool
from toolcast_runtime import Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.validation.protocol import REVISIONS, check_tool_definition
from toolcast_runtime.langchain import LangChainTools
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.mcp.sdk_server import build_server
from toolcast_runtime.mcp.tool_search import (
    SEARCH_TOOLS,
    add_search_instructions,
    unwrap_search_call,
)

HANDLERS = "tests.search.handlers"
MODES: list[Literal["auto", "legacy"]] = ["auto", "legacy"]
DESK = Client("*", deny=("secret",), permissions=("write",))
CLIENTS = {"desk": DESK, "guest": Client(("ping",))}
OBJECT = {"type": "object"}
NUMBER = {"type": "integer", "maximum": 10}


def make_schema(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties only."""
    return {"type": "object", "properties": properties, "additionalProperties": False}


def make_definition(
    name: str, summary: str, schema: Any = None, **more: Any
) -> dict[str, Any]:
    """Return the definition of a tool whose handler returns its arguments."""
    mcp = {"name": name, "description": summary, "inputSchema": schema or OBJECT}
    mcp |= more.pop("mcp", {})
    values = {"handler": f"{HANDLERS}:echo", **more}
    return definition(name, mcp=mcp, summary=summary, **values)


DEFINITIONS = (
    make_definition("ping", "Answers.", always=True),
    make_definition(
        "delete_page",
        "Deletes a page of the wiki for good.",
        make_schema(number=NUMBER),
        renamed_from=["drop_page"],
        mcp={"outputSchema": {"type": "array"}, "_meta": {"own": 1.5}},
        handler=f"{HANDLERS}:return_list",
    ),
    make_definition("archive_page", "Archives a page of the wiki.", permission="write"),
    make_definition("secret", "Deletes every page of the wiki."),
    make_definition("find_user", "Finds a user.", mcp={"outputSchema": OBJECT}),
)


def make_server(folder: Path, *providers: Any, **more: Any) -> McpServer:
    """Return a server with search for the definitions and external tool providers."""
    tools = Package(folder, *DEFINITIONS).load()
    options = {"clients": CLIENTS, "providers": providers, **more}
    registry = Registry(tools, handlers=HANDLERS, **options)
    options = {"instructions": "Be kind.", "external": bool(providers)}
    return McpServer(registry, name="wiki", client="desk", search=True, **options)


def run_client(
    server: McpServer, mode: Any, *calls: Any, client: str = "desk"
) -> list[Any]:
    """Return a client's listing with its instructions, and the result or error of each call."""
    return asyncio.run(call_server(server.build(client), mode, *calls))


async def call_server(server: Any, mode: Any, *calls: Any) -> list[Any]:
    async with SdkClient(server, mode=mode) as sdk:
        listed = [tool.name for tool in (await sdk.list_tools()).tools]
        answers: list[Any] = [(listed, sdk.instructions)]
        for name, arguments in calls:
            try:
                answers.append(await sdk.call_tool(name, arguments))
            except MCPError as error:
                answers.append(error.error.message)
        return answers


def search(server: McpServer, query: str, **more: Any) -> Any:
    """Return the result of `search_tools` for a query."""
    arguments = {"query": query, **more}
    return run_client(server, "auto", ("search_tools", arguments))[1]


def read_names(found: Any) -> list[str]:
    """Return the tool names in a search result."""
    return [tool["name"] for tool in json.loads(found.content[0].text)["tools"]]


@pytest.mark.parametrize("mode", MODES)
def test_mcp_client_with_unlisted_tools_lists_search_tools_and_call_found_tool(
    tmp_path: Path, mode: Any
) -> None:
    """Clients without unlisted tools do not."""
    server = make_server(tmp_path)
    [(listed, instructions)] = run_client(server, mode)
    assert listed == ["ping", "search_tools", "call_found_tool"]
    assert instructions == (
        "Beyond its list this server has 3 more tools: search_tools finds them by what they"
        " do, and call_found_tool calls them.\n\nBe kind."
    )
    assert run_client(server, mode, client="guest") == [(["ping"], "Be kind.")]


@pytest.mark.parametrize("mode", MODES)
def test_search_tools_returns_the_mcp_definitions_unchanged_as_text(
    tmp_path: Path, mode: Any
) -> None:
    calls = [("search_tools", {"query": "delete a page"})]
    _, found = run_client(make_server(tmp_path), mode, *calls)
    assert found.structured_content is None and not found.is_error
    (block,) = found.content
    # Listings of handshake versions would omit an output schema that is not an object.
    assert json.loads(block.text)["tools"][0] == DEFINITIONS[1]["mcp"]
    assert '"own": 1.5' in block.text
    assert read_names(found) == ["delete_page", "archive_page"]


@pytest.mark.parametrize(
    ("query", "limit", "expected"),
    [
        ("the page, for good", 1, ["delete_page"]),
        ("user", None, ["find_user"]),
        ("delete every page of the wiki", None, ["delete_page", "archive_page"]),
        ("zebra crossing", None, []),
        ("hello", None, []),
        # The router would show all tools for an unclear message.
        ("zebra giraffe lion user", None, ["find_user"]),
        ("ping", None, []),
    ],
)
def test_search_tools_returns_the_best_matches_up_to_the_limit(
    tmp_path: Path, query: str, limit: int | None, expected: list[str]
) -> None:
    options = {} if limit is None else {"limit": limit}
    found = search(make_server(tmp_path), query, **options)
    assert read_names(found) == expected
    assert len(found.content) == (1 if expected else 2)


@pytest.mark.parametrize("query", ["form_99", " get ", "hello"])
def test_search_tools_ranks_an_exact_name_first(tmp_path: Path, query: str) -> None:
    """Numbers and common words have no weight for the router."""
    forms = [make_definition(f"form_{n}", "Shows a form.") for n in range(90)]
    last = make_definition("form_99", "Shows it.", renamed_from=["get", "hello"])
    secret = make_definition("secret", "Shows all.")
    tools = Package(tmp_path, *forms, last, secret).load()
    registry = Registry(tools, handlers=HANDLERS, clients=CLIENTS)
    server = McpServer(registry, name="forms", client="desk", search=True)
    assert read_names(search(server, query))[0] == "form_99"
    assert read_names(search(server, "secret")) == []


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "`query` is required"),
        ({"query": ""}, "`query`"),
        ({"query": "x" * 1001}, "`query`"),
        ({"query": "x", "limit": 0}, "`limit`"),
        ({"query": "x", "limit": 21}, "`limit`"),
        ({"query": 3}, "`query`"),
        ({"query": "x", "more": 1}, "`more`"),
    ],
)
def test_search_tools_with_invalid_arguments_returns_an_error(
    tmp_path: Path, arguments: dict[str, Any], problem: str
) -> None:
    _, refused = run_client(make_server(tmp_path), "auto", ("search_tools", arguments))
    assert refused.is_error
    assert refused.content[0].text.startswith("the arguments of `search_tools` are not")
    assert problem in refused.content[0].text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_page", {"number": 3}),
        ("drop_page", {"number": 3}),
        ("delete_page", {"number": 11}),
        ("delete_page", {"other": 1}),
        ("find_user", {}),
        ("archive_page", {}),
        ("ping", {}),
        ("secret", {}),
        ("nothing", {}),
        ("", {}),
    ],
)
def test_calling_a_tool_through_call_found_tool_returns_the_direct_calls_result(
    tmp_path: Path, mode: Any, name: str, arguments: dict[str, Any]
) -> None:
    """Also for invalid arguments, unknown tools and tools of other clients."""
    found = {"name": name, "arguments": arguments}
    _, direct, indirect = run_client(
        make_server(tmp_path), mode, (name, arguments), ("call_found_tool", found)
    )
    assert indirect == direct
    if name in ("secret", "nothing", ""):
        assert direct == f"Unknown tool: {name}"


@pytest.mark.parametrize("name", SEARCH_TOOLS)
def test_call_found_tool_reports_a_search_tool_as_unknown(
    tmp_path: Path, name: str
) -> None:
    found = {"name": name, "arguments": {"query": "make_definition", "name": "ping"}}
    _, refused = run_client(make_server(tmp_path), "auto", ("call_found_tool", found))
    assert refused == f"Unknown tool: {name}"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": 3},
        {"name": ["ping"]},
        {"name": "ping", "arguments": "{}"},
        {"name": "ping", "arguments": None},
        {"name": "ping", "more": {}},
        {"arguments": {}},
    ],
)
def test_call_found_tool_with_invalid_arguments_returns_an_error(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    assert unwrap_search_call("call_found_tool", arguments)[2] is False
    call = ("call_found_tool", arguments)
    _, refused = run_client(make_server(tmp_path), "auto", call)
    assert refused.is_error
    assert "the arguments of `call_found_tool` are not valid" in refused.content[0].text


def test_unwrap_search_call_returns_name_and_empty_arguments_by_default() -> None:
    """Other calls are returned unchanged."""
    assert unwrap_search_call("call_found_tool", {"name": "ping"}) == ("ping", {}, True)
    assert unwrap_search_call("ping", {"name": "x"}) == ("ping", {"name": "x"}, False)
    name = "call_found_tool"
    assert unwrap_search_call(name, None) == (name, None, False)


@pytest.mark.parametrize("revision", REVISIONS)
def test_search_tool_definitions_are_valid_in_every_mcp_protocol_version(
    revision: str,
) -> None:
    for search_tool in SEARCH_TOOLS.values():
        assert check_tool_definition(search_tool.definition, revision) == []


def test_call_found_tool_annotations_allow_for_the_most_dangerous_tool() -> None:
    """Clients decide by them whether the user must approve a call."""
    worst = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
    assert SEARCH_TOOLS["call_found_tool"].definition["annotations"] == worst
    harmless = {"readOnlyHint": True, "openWorldHint": False}
    assert SEARCH_TOOLS["search_tools"].definition["annotations"] == harmless


def test_call_found_tool_call_log_line_names_the_called_tool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Unknown tools are not named."""
    caplog.set_level(logging.INFO, "toolcast.calls")
    calls = [
        ("search_tools", {"query": "make_definition"}),
        ("search_tools", {}),
        ("call_found_tool", {"name": "find_user"}),
        ("call_found_tool", {"name": "nothing"}),
    ]
    run_client(make_server(tmp_path), "auto", *calls)
    lines = [vars(record) for record in caplog.records]
    assert [(line["tool"], line["outcome"]) for line in lines] == [
        ("search_tools", "ok"),
        ("search_tools", "invalid"),
        ("find_user", "ok"),
        (None, "refused"),
    ]


def test_search_tools_finds_only_tools_that_the_caller_may_call(tmp_path: Path) -> None:
    server = make_server(tmp_path)
    with calling_as(Caller(permissions=frozenset())):
        assert server.count_unlisted_tools("desk") == 2
    assert server.count_unlisted_tools("desk") == 3
    found = read_names(search(server, "wiki page user"))
    assert sorted(found) == ["archive_page", "delete_page", "find_user"]


def test_search_tools_finds_and_call_found_tool_calls_external_server_tools(
    tmp_path: Path,
) -> None:
    tools = (make_tool("weather_report"), make_tool("clock", always=True))
    provider = RecordingProvider(*tools)
    (listed, instructions), found, called = run_client(
        make_server(tmp_path, provider),
        "auto",
        ("search_tools", {"query": "weather report"}),
        ("call_found_tool", {"name": "weather_report", "arguments": {"of": 1}}),
    )
    assert listed == ["ping", "search_tools", "call_found_tool", "clock"]
    assert instructions.startswith(
        "Beyond its list this server has 3 more tools and tools of external servers: "
    )
    assert read_names(found) == ["weather_report"]
    assert called.content[0].text == '{"from": "weather_report"}'
    assert provider.calls == [("weather_report", {"of": 1}, "desk")]
    assert set(SEARCH_TOOLS) <= provider.reserved


@pytest.mark.parametrize(
    ("hidden", "is_external", "phrase"),
    [
        (1, False, "1 more tool"),
        (2, False, "2 more tools"),
        (0, True, "tools of external servers"),
        (1, True, "1 more tool and tools of external servers"),
    ],
)
def test_search_instructions_state_how_many_tools_are_unlisted(
    hidden: int, is_external: bool, phrase: str
) -> None:
    text = add_search_instructions(None, hidden, has_others=is_external)
    assert str(text).startswith(f"Beyond its list this server has {phrase}: ")
    assert add_search_instructions(None, 0, has_others=False) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # Tools that the model selected are ordered by their lexical rank.
        (["archive_page", "find_user", "delete_page"], "delete_page archive_page"),
        ([], ""),
        # With an invalid selection, the lexical ranking decides.
        (["unknown"], "delete_page archive_page"),
    ],
)
def test_search_tools_uses_the_toolsets_router_model(
    tmp_path: Path, answer: list[str], expected: str
) -> None:
    with run_scripted_model() as model:
        model.body = encode_completion(json.dumps({"tools": answer}))
        server = make_server(tmp_path, router=model.make_router())
        found = search(server, "delete the page for good", limit=2)
    assert read_names(found) == expected.split()
    assert len(model.requests) == 1


async def test_search_tools_without_the_router_modules_returns_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "toolcast_runtime.router.router", None)
    server = make_server(tmp_path)
    found = await server.find("search_tools", "desk")
    assert found is not None
    answer = await found.toolset.calls.admit(
        found.tool, found.provider, {"query": "make_definition"}, "desk"
    )
    assert answer.error == (
        "tools cannot be searched: the part `router` of toolcast-runtime cannot be"
        " loaded"
    )


@pytest.mark.parametrize("mode", MODES)
def test_call_found_tool_needs_own_confirmation(tmp_path: Path, mode: Any) -> None:
    """The client shows another tool name, so the server asks the user or refuses."""
    confirm = {"message": "Drop it?"}
    drop = make_definition("drop_wiki", "Drops the wiki.", confirm=confirm)
    tools = Package(tmp_path, drop).load()
    server = McpServer(Registry(tools, handlers=HANDLERS), name="wiki", search=True)
    trusted = build_server(server, client_confirms=True)
    calls = [("drop_wiki", {}), ("call_found_tool", {"name": "drop_wiki"})]
    _, direct, found = asyncio.run(call_server(trusted, mode, *calls))
    assert direct.content[0].text == '{"arguments": {}}'
    assert found.is_error and "`drop_wiki` has to ask the user" in found.content[0].text


def test_search_tools_on_a_combined_mcp_server_finds_all_toolsets_tools(
    tmp_path: Path,
) -> None:
    packages = [Package(tmp_path, DEFINITIONS[index]) for index in (1, 4)]
    registries = [Registry(p.load(), handlers=HANDLERS) for p in packages]
    servers = [McpServer(r, name=f"n{n}") for n, r in enumerate(registries)]
    both = McpServer.combine("both", tuple(servers), name="both", search=True)
    calls = [
        ("search_tools", {"query": "the page of a user"}),
        ("call_found_tool", {"name": "find_user"}),
    ]
    (listed, _), found, called = asyncio.run(call_server(both.build(), "auto", *calls))
    assert listed == [*SEARCH_TOOLS]
    assert sorted(read_names(found)) == ["delete_page", "find_user"]
    assert called.structured_content == {"arguments": {}}


def test_langchain_tools_without_always_defer_loading_only_with_tool_search(
    tmp_path: Path,
) -> None:
    tools = LangChainTools(make_server(tmp_path).registry)
    deferred = {t.name: t.extras for t in tools.all("desk", tool_search=True)}
    assert deferred.pop("ping") is None
    assert [*deferred.values()] == [{"defer_loading": True}] * 3
    assert all(wrapper.extras is None for wrapper in tools.all("desk"))

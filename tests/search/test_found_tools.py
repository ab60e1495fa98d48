"""What a server lists that is searched, what a search finds, and whose a found call is."""

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

from tests.router.scripted_model import completion, scripted
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
CLIENTS = {
    "desk": Client("*", deny=("secret",), permissions=("write",)),
    "guest": Client(("ping",)),
}
NUMBER = {"type": "integer", "maximum": 10}


def takes(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def page(name: str, summary: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    mcp = {
        "name": name,
        "description": summary,
        "inputSchema": schema or {"type": "object"},
        **more.pop("mcp", {}),
    }
    does = {"handler": f"{HANDLERS}:echo", **more}
    return definition(name, mcp=mcp, summary=summary, **does)


PAGES = (
    page("ping", "Answers.", always=True),
    page(
        "delete_page",
        "Deletes a page of the wiki for good.",
        takes(number=NUMBER),
        renamed_from=["drop_page"],
        mcp={"outputSchema": {"type": "array"}, "_meta": {"own": 1.5}},
        handler=f"{HANDLERS}:listed",
    ),
    page("archive_page", "Archives a page of the wiki.", permission="write"),
    page("secret", "Deletes every page of the wiki."),
    page("find_user", "Finds a user.", mcp={"outputSchema": {"type": "object"}}),
)


def server(folder: Path, *shelves: Any, **more: Any) -> McpServer:
    registry = Registry(
        Package(folder, *PAGES).load(),
        handlers=HANDLERS,
        clients=CLIENTS,
        providers=shelves,
        **more,
    )
    return McpServer(
        registry,
        name="wiki",
        client="desk",
        instructions="Be kind.",
        external=bool(shelves),
        search=True,
    )


def asked(served: McpServer, mode: Any, *calls: Any, client: str = "desk") -> list[Any]:
    """The list of a client with its instructions, and the result or the error of each call."""

    async def works() -> list[Any]:
        async with SdkClient(served.build(client), mode=mode) as sdk:
            listed = [tool.name for tool in (await sdk.list_tools()).tools]
            answers: list[Any] = [(listed, sdk.instructions)]
            for name, arguments in calls:
                try:
                    answers.append(await sdk.call_tool(name, arguments))
                except MCPError as error:
                    answers.append(error.error.message)
            return answers

    return asyncio.run(works())


def names(found: Any) -> list[str]:
    return [one["name"] for one in json.loads(found.content[0].text)["tools"]]


@pytest.mark.parametrize("mode", MODES)
def test_the_list_and_the_instructions_are_the_clients_own(
    tmp_path: Path, mode: Any
) -> None:
    served = server(tmp_path)
    [(listed, instructions)] = asked(served, mode)
    assert listed == ["ping", "search_tools", "call_found_tool"]
    assert instructions == (
        "Beyond its list this server has 3 more tools: search_tools finds them by what they"
        " do, and call_found_tool calls them.\n\nBe kind."
    )
    # To whom nothing is hidden, nothing is told of a search.
    assert asked(served, mode, client="guest") == [(["ping"], "Be kind.")]


@pytest.mark.parametrize("mode", MODES)
def test_a_search_answers_with_exact_definitions(tmp_path: Path, mode: Any) -> None:
    calls = [("search_tools", {"query": "delete a page"})]
    _, found = asked(server(tmp_path), mode, *calls)
    assert found.structured_content is None and not found.is_error
    (block,) = found.content
    # In the older era, too, whose lists leave a schema out that is no object's.
    assert json.loads(block.text)["tools"][0] == PAGES[1]["mcp"]
    assert '"own": 1.5' in block.text
    assert names(found) == ["delete_page", "archive_page"]


@pytest.mark.parametrize(
    ("query", "limit", "expected"),
    [
        ("the page, for good", 1, ["delete_page"]),
        ("user", None, ["find_user"]),
        ("delete every page of the wiki", None, ["delete_page", "archive_page"]),
        ("zebra crossing", None, []),
        ("hello", None, []),
        # In doubt the router shows all: a search does not.
        ("zebra giraffe lion user", None, ["find_user"]),
        ("ping", None, []),
    ],
)
def test_the_best_are_found_and_never_all(
    tmp_path: Path, query: str, limit: int | None, expected: list[str]
) -> None:
    arguments = {"query": query} | ({} if limit is None else {"limit": limit})
    _, found = asked(server(tmp_path), "auto", ("search_tools", arguments))
    assert names(found) == expected
    assert len(found.content) == (1 if expected else 2)


@pytest.mark.parametrize("query", ["form_99", " get ", "hello"])
async def test_what_is_asked_for_by_its_name_is_the_best(
    tmp_path: Path, query: str
) -> None:
    """A number is no word to the router, and one that stands in any message tells it nothing."""
    forms = [page(f"form_{n}", "Shows a form.") for n in range(90)]
    last = page("form_99", "Shows it.", renamed_from=["get", "hello"])
    secret = page("secret", "Shows all.")
    tools = Package(tmp_path, *forms, last, secret).load()
    registry = Registry(tools, handlers=HANDLERS, clients=CLIENTS)
    served = McpServer(registry, name="forms", client="desk", search=True)
    async with SdkClient(served.build("desk")) as sdk:
        best = await sdk.call_tool("search_tools", {"query": query})
        none = await sdk.call_tool("search_tools", {"query": "secret"})
    assert names(best)[0] == "form_99" and names(none) == []


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
def test_a_search_is_refused_as_any_call_is(
    tmp_path: Path, arguments: dict[str, Any], problem: str
) -> None:
    _, refused = asked(server(tmp_path), "auto", ("search_tools", arguments))
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
def test_a_found_call_is_the_call_of_the_tool(
    tmp_path: Path, mode: Any, name: str, arguments: dict[str, Any]
) -> None:
    found = {"name": name, "arguments": arguments}
    _, direct, through = asked(
        server(tmp_path), mode, (name, arguments), ("call_found_tool", found)
    )
    assert through == direct
    if name in ("secret", "nothing", ""):
        assert direct == f"Unknown tool: {name}"


@pytest.mark.parametrize("name", SEARCH_TOOLS)
def test_the_two_are_no_found_tools(tmp_path: Path, name: str) -> None:
    found = {"name": name, "arguments": {"query": "page", "name": "ping"}}
    _, refused = asked(server(tmp_path), "auto", ("call_found_tool", found))
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
def test_what_names_no_call_is_refused_and_nothing_called(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    assert unwrap_search_call("call_found_tool", arguments)[2] is False
    _, refused = asked(server(tmp_path), "auto", ("call_found_tool", arguments))
    assert refused.is_error
    assert "the arguments of `call_found_tool` are not valid" in refused.content[0].text


def test_a_call_without_arguments_may_leave_them_out() -> None:
    assert unwrap_search_call("call_found_tool", {"name": "ping"}) == ("ping", {}, True)
    assert unwrap_search_call("ping", {"name": "x"}) == ("ping", {"name": "x"}, False)
    assert unwrap_search_call("call_found_tool", None) == (
        "call_found_tool",
        None,
        False,
    )


@pytest.mark.parametrize("revision", REVISIONS)
def test_strict_clients_take_the_two(revision: str) -> None:
    for own in SEARCH_TOOLS.values():
        assert check_tool_definition(own.definition, revision) == []


def test_the_log_has_the_found_tool(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolcast.calls")
    calls = [
        ("search_tools", {"query": "page"}),
        ("search_tools", {}),
        ("call_found_tool", {"name": "find_user"}),
        ("call_found_tool", {"name": "nothing"}),
    ]
    asked(server(tmp_path), "auto", *calls)
    lines = [vars(record) for record in caplog.records]
    assert [(line["tool"], line["outcome"]) for line in lines] == [
        ("search_tools", "ok"),
        ("search_tools", "invalid"),
        ("find_user", "ok"),
        (None, "refused"),
    ]


def test_what_a_caller_may_not_have_is_never_found(tmp_path: Path) -> None:
    served = server(tmp_path)
    with calling_as(Caller(permissions=frozenset())):
        assert served.count_unlisted_tools("desk") == 2
    assert served.count_unlisted_tools("desk") == 3
    _, found = asked(served, "auto", ("search_tools", {"query": "wiki page user"}))
    assert sorted(names(found)) == ["archive_page", "delete_page", "find_user"]


def test_tools_of_external_servers_are_found_and_called(tmp_path: Path) -> None:
    provider = RecordingProvider(
        make_tool("weather_report"), make_tool("clock", always=True)
    )
    (listed, instructions), found, called = asked(
        server(tmp_path, provider),
        "auto",
        ("search_tools", {"query": "weather report"}),
        ("call_found_tool", {"name": "weather_report", "arguments": {"of": 1}}),
    )
    assert listed == ["ping", "search_tools", "call_found_tool", "clock"]
    assert instructions.startswith(
        "Beyond its list this server has 3 more tools and tools of external servers: "
    )
    assert names(found) == ["weather_report"]
    assert called.content[0].text == '{"from": "weather_report"}'
    assert provider.calls == [("weather_report", {"of": 1}, "desk")]
    assert set(SEARCH_TOOLS) <= provider.reserved


@pytest.mark.parametrize(
    ("hidden", "has_others", "said"),
    [
        (0, False, None),
        (1, False, "1 more tool"),
        (2, False, "2 more tools"),
        (0, True, "tools of external servers"),
        (1, True, "1 more tool and tools of external servers"),
    ],
)
def test_instructions_say_how_many_are_hidden(
    hidden: int, has_others: bool, said: str | None
) -> None:
    text = add_search_instructions(None, hidden, has_others=has_others)
    if said is None:
        assert text is None
    else:
        assert str(text).startswith(f"Beyond its list this server has {said}: ")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # What a model chose, the best by words first.
        (["archive_page", "find_user", "delete_page"], "delete_page archive_page"),
        ([], ""),
        # No choice: the words decide.
        (["nobody"], "delete_page archive_page"),
    ],
)
def test_a_model_of_the_toolset_chooses(
    tmp_path: Path, answer: list[str], expected: str
) -> None:
    with scripted() as script:
        script.body = completion(json.dumps({"tools": answer}))
        served = server(tmp_path, router=script.router())
        query = {"query": "delete the page for good", "limit": 2}
        _, found = asked(served, "auto", ("search_tools", query))
    assert names(found) == expected.split()
    assert len(script.asked) == 1


async def test_without_a_router_nothing_is_found_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "toolcast_runtime.router.router", None)
    served = server(tmp_path)
    found = await served.find("search_tools", "desk")
    assert found is not None
    answer = await found.toolset.calls.admit(
        found.tool, found.provider, {"query": "page"}, "desk"
    )
    assert answer.error == (
        "tools cannot be searched: the part `router` of toolcast-runtime cannot be"
        " loaded"
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_approves_does_not_approve_found_calls(
    tmp_path: Path, mode: Any
) -> None:
    """It saw another name: the server asks by itself, or refuses."""
    drop = page("drop_wiki", "Drops the wiki.", confirm={"message": "Drop it?"})
    tools = Package(tmp_path, drop).load()
    served = McpServer(Registry(tools, handlers=HANDLERS), name="wiki", search=True)

    async def works() -> list[Any]:
        trusted = build_server(served, client_confirms=True)
        async with SdkClient(trusted, mode=mode) as sdk:
            direct = await sdk.call_tool("drop_wiki", {})
            found = await sdk.call_tool("call_found_tool", {"name": "drop_wiki"})
            return [direct, found]

    direct, found = asyncio.run(works())
    assert direct.content[0].text == '{"got": {}}'
    assert found.is_error and "`drop_wiki` has to ask the user" in found.content[0].text


def test_toolsets_that_share_a_server_are_searched_together(tmp_path: Path) -> None:
    servers = tuple(
        McpServer(
            Registry(Package(tmp_path, each).load(), handlers=HANDLERS), name=f"n{n}"
        )
        for n, each in enumerate((PAGES[1], PAGES[4]))
    )
    both = McpServer.combine("both", servers, name="both", search=True)

    async def works() -> list[Any]:
        async with SdkClient(both.build()) as sdk:
            listed = [tool.name for tool in (await sdk.list_tools()).tools]
            query = {"query": "the page of a user"}
            found = await sdk.call_tool("search_tools", query)
            called = await sdk.call_tool("call_found_tool", {"name": "find_user"})
            return [listed, sorted(names(found)), called.structured_content]

    assert asyncio.run(works()) == [
        [*SEARCH_TOOLS],
        ["delete_page", "find_user"],
        {"got": {}},
    ]


def test_langchains_wrappers_are_deferred_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    tools = LangChainTools(server(tmp_path).registry)
    deferred = {one.name: one.extras for one in tools.all("desk", tool_search=True)}
    assert deferred.pop("ping") is None
    assert [*deferred.values()] == [{"defer_loading": True}] * 3
    assert all(one.extras is None for one in tools.all("desk"))

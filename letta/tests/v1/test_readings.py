"""What is read of a Letta server's answers, and how the registry is brought up to date."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from letta.tests.planning.states import (
    ADD,
    URL,
    index_by_name,
    make_applied_state,
    make_built_in_tool,
    make_current_state,
    make_desired_state,
    make_entry,
    make_plan,
    make_registered_tool,
    make_tool,
    offer_tools,
)
from toolcast_letta.v1 import registering
from toolcast_letta.v1.api import LettaError
from toolcast_letta.v1.reading import (
    _explain_unreachable,
    _find_holders,
    _parse_entry,
    _parse_offered_tool,
    _parse_registered_tool,
    _probe_offered_tools,
    build_server_config,
    read_agent,
)

WITH_TOKEN = replace(ADD, token="s3cret")
BEARER = {"Authorization": "Bearer s3cret"}


@pytest.mark.parametrize(
    ("wanted", "headers", "sent"),
    [
        (ADD, None, None),
        (ADD, {"authorization": "old", "X": "1"}, {"authorization": "old", "X": "1"}),
        (WITH_TOKEN, None, BEARER),
        (WITH_TOKEN, {"authorization": "old", "X": "1"}, {"X": "1", **BEARER}),
    ],
)
def test_an_entry_keeps_the_headers_of_others(
    wanted: Any, headers: Any, sent: Any
) -> None:
    assert build_server_config(wanted, headers) == {
        "mcp_server_type": "streamable_http",
        "server_url": URL,
        "custom_headers": sent,
    }


@pytest.mark.parametrize(
    ("wanted", "more", "made"),
    [
        (ADD, {"server_url": URL, "mcp_server_type": "streamable_http"}, make_entry()),
        (ADD, {"mcp_server_type": "streamable_http"}, make_entry("")),
        (ADD, {"server_url": URL, "mcp_server_type": "sse"}, make_entry(is_http=False)),
        (
            WITH_TOKEN,
            {"server_url": URL, "mcp_server_type": "streamable_http"},
            make_entry(has_token=False),
        ),
        (
            WITH_TOKEN,
            {
                "server_url": URL,
                "mcp_server_type": "streamable_http",
                "custom_headers": {"authorization": "x", **BEARER},
            },
            make_entry(),
        ),
        (
            WITH_TOKEN,
            {
                "server_url": URL,
                "mcp_server_type": "streamable_http",
                "custom_headers": {**BEARER, "authorization": "x"},
            },
            make_entry(has_token=False),
        ),
    ],
)
def test_an_entry_is_as_it_should_be_or_not(wanted: Any, more: Any, made: Any) -> None:
    assert _parse_entry({"id": "mcp-1", "server_name": "toys", **more}, wanted) == made


RAW = {"server_url": URL, "mcp_server_type": "streamable_http", "custom_headers": None}


class Lists:
    """Gives the tools of an entry, and of a server that is to be one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def _given(self, name: str) -> list[dict[str, Any]]:
        if self.error is not None:
            raise self.error
        return [{"name": name}]

    def list_live_tools(self, server: str) -> Any:
        return self._given("live")

    def probe_server(self, server: str, config: Any) -> Any:
        return self._given("asked")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (RAW, "live"),
        ({**RAW, "custom_headers": {}}, "live"),
        (None, "asked"),
        ({**RAW, "server_url": "http://old.test"}, "asked"),
        ({**RAW, "mcp_server_type": "sse"}, "asked"),
    ],
)
def test_tools_are_asked_for_where_they_will_be(raw: Any, name: str) -> None:
    api: Any = Lists()
    found, unreachable = _probe_offered_tools(api, ADD, raw)
    assert ([*found], unreachable) == ([name], "")


@pytest.mark.parametrize(
    ("status", "is_raised"), [(401, True), (403, True), (402, False), (500, False)]
)
def test_a_key_that_is_refused_is_no_server_that_is_away(
    status: int, is_raised: bool
) -> None:
    api: Any = Lists(LettaError("no", status))
    if is_raised:
        with pytest.raises(LettaError):
            _probe_offered_tools(api, ADD, None)
        return
    assert _probe_offered_tools(api, ADD, None) == ({}, "no")


def test_a_server_that_is_away_is_said_to_be() -> None:
    away = LettaError("Cannot CONNECT")
    said = ": Cannot CONNECT"
    assert _explain_unreachable(away, ADD) == f"the server is not reachable{said}"
    assert (
        _explain_unreachable(away, WITH_TOKEN)
        == f"the server is not reachable or refuses the token{said}"
    )


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({}, ""),
        ({"inputSchema": {"type": "string"}}, "root: the type must be object"),
        ({"health": {"status": "INVALID", "reasons": ["a", "b"]}}, "a; b"),
        ({"health": {"status": "INVALID"}}, "its schema is not valid"),
        ({"health": {"status": "STRICT_COMPLIANT", "reasons": ["a"]}}, ""),
    ],
)
def test_an_offered_tool_has_a_problem_or_none(more: Any, problem: str) -> None:
    schema = {"inputSchema": {"type": "object", "properties": {}}}
    assert _parse_offered_tool({"name": "a", **schema, **more}).problem == problem


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, (None, "")),
        ({"metadata_": {"mcp": {"server_id": "m"}}}, ("m", "")),
        ({"metadata": {"mcp": {"server_id": "m"}}}, ("m", "")),
        ({"tags": ["x", "mcp:toys:y", "mcp:z"]}, (None, "toys")),
    ],
)
def test_a_registered_tool_says_whose_it_is(more: Any, found: Any) -> None:
    made = _parse_registered_tool(
        {"id": "1", "name": "a", "tool_type": "custom", **more}
    )
    assert (made.server_id, made.called_at) == found
    assert [*made.settings.values()] == [None, None, None]


def read(**more: Any) -> Any:
    raw = {"id": "1", "name": "a", "agent_type": "x", "tools": [], **more}
    api: Any = SimpleNamespace(get_agent=lambda _: raw)
    return read_agent(api, "1")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"tools": None}, "no list of tools"),
        ({"tools": [{"name": "a"}]}, "no list of tools"),
        ({"tools": ["a"]}, "no list of tools"),
        ({"tool_rules": [{"tool_name": "a"}]}, "no list of rules"),
        ({"tool_rules": {"a": 1}}, "no list of rules"),
    ],
)
def test_an_agent_without_its_tools_is_none(more: Any, said: str) -> None:
    with pytest.raises(LettaError, match=said):
        read(**more)
    assert read(tool_rules=None, tags=None).tags == ()


@pytest.mark.parametrize(
    ("status", "said"), [(404, "Letta has no agent 1"), (403, "no")]
)
def test_an_agent_that_is_not_there(status: int, said: str) -> None:
    def agent(_: str) -> Any:
        raise LettaError("no", status)

    api: Any = SimpleNamespace(get_agent=agent)
    with pytest.raises(LettaError) as told:
        read_agent(api, "1")
    assert (str(told.value), told.value.status) == (said, status)


def test_other_agents_that_have_a_tool() -> None:
    def one(number: str, *names: str) -> dict[str, Any]:
        return {
            "id": number,
            "name": f"n{number}",
            "tools": [{"name": n} for n in names],
        }

    agents = [
        one("3", "a"),
        one("1", "a"),
        one("2", "a", "b", "c"),
        {"id": "4", "name": "x"},
    ]
    api: Any = SimpleNamespace(list_agents=lambda: agents)
    assert _find_holders(api, ["a", "b"], {"1"}) == {
        "a": ("n2 (2)", "n3 (3)"),
        "b": ("n2 (2)",),
    }


class Registers:
    """Notes what is asked of the registry."""

    def __init__(self, *tools: Any, live: Any = ()) -> None:
        self.done: list[Any] = []
        self.registry = index_by_name(*tools)
        self.live = live

    def __getattr__(self, name: str) -> Any:
        return lambda *given: self.done.append((name, *given))


def test_a_refresh_is_for_fifty_tools() -> None:
    """Letta looks at fifty, and deletes what the server does not offer."""
    plan = make_plan(ADD, make_applied_state())
    for there, new, may in [
        (50, [], True),
        (49, ["new"], True),
        (51, [], False),
        (50, ["new"], False),
    ]:
        tools = (make_built_in_tool(f"t{n}") for n in range(there - 3))
        assert (
            registering._can_refresh(plan, make_current_state(ADD, *tools), new) is may
        )
    found = make_applied_state()
    assert registering._can_refresh(plan, found, ["add"])
    own = make_current_state(
        ADD, make_registered_tool("add"), make_registered_tool("old")
    )
    assert not registering._can_refresh(plan, own, [])


def test_settings_that_a_registration_reset_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = index_by_name(
        make_registered_tool(
            "a", settings={"return_char_limit": 1, "default_requires_approval": True}
        ),
        make_registered_tool("same", settings={"return_char_limit": 5}),
    )
    monkeypatch.setattr(registering, "read_registry", lambda _: now)
    before = {
        "a": {
            "return_char_limit": 5,
            "default_requires_approval": True,
            "enable_parallel_execution": None,
            "other": 1,
        },
        "same": {"return_char_limit": 5},
        "gone": {"return_char_limit": 5},
    }
    api: Any = Registers()
    said: list[str] = []
    registering.restore_settings(api, before, said.append)
    assert api.done == [("update_tool", "id-a", {"return_char_limit": 5})]
    assert said == ["restored settings of a: return_char_limit"]
    registering.restore_settings(api, {}, said.append)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("found", "live", "asked"),
    [
        (make_applied_state(), None, []),
        (make_current_state(ADD), "ADD", ["refresh_server", "register_tool"]),
        (
            make_current_state(ADD, *(make_built_in_tool(f"t{n}") for n in range(48))),
            "ADD",
            ["register_tool"],
        ),
        (make_current_state(ADD, entry=None), "ADD", ["register_tool"]),
        (
            make_current_state(ADD, make_registered_tool("add", called_at="toy")),
            "ADD",
            ["refresh_server", "register_tool"],
        ),
    ],
)
def test_what_is_missing_is_registered(
    monkeypatch: pytest.MonkeyPatch, found: Any, live: Any, asked: list[str]
) -> None:
    monkeypatch.setattr(registering, "read_registry", lambda _: found.registry)
    monkeypatch.setattr(
        registering, "read_offered_tools", lambda *_: offer_tools(make_tool("add"))
    )
    api: Any = Registers()
    plan = make_plan(ADD, found)
    registering.register_tools(api, ADD, plan, found, {}, lambda _: None)
    assert [name for name, *_ in api.done] == asked


def test_a_list_that_has_just_changed_is_not_refreshed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        registering, "read_offered_tools", lambda *_: offer_tools(make_tool("b"))
    )
    found = make_current_state(ADD)
    api: Any = Registers()
    with pytest.raises(LettaError, match="the tools of the MCP server have changed"):
        registering.register_tools(
            api, ADD, make_plan(ADD, found), found, {}, lambda _: None
        )
    assert api.done == []


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (make_applied_state(), []),
        (make_applied_state(entry=None), ["create_server"]),
        (make_applied_state(entry=make_entry("http://old.test")), ["update_server"]),
        (make_applied_state(entry=make_entry(has_token=False)), ["update_server"]),
    ],
)
def test_an_entry_is_made_as_it_should_be(
    monkeypatch: pytest.MonkeyPatch, found: Any, asked: list[str]
) -> None:
    monkeypatch.setattr(
        registering, "find_raw_entry", lambda *_: {"custom_headers": {"X": "1"}}
    )
    monkeypatch.setattr(
        registering, "read_current_state", lambda *_: make_applied_state()
    )
    api: Any = Registers()
    registering.ensure_entry(api, ADD, found, lambda _: None)
    assert [name for name, *_ in api.done] == asked
    for bad in (None, make_entry(has_token=False)):
        now = make_applied_state(entry=bad)
        monkeypatch.setattr(registering, "read_current_state", lambda *_, now=now: now)
        if asked:
            with pytest.raises(
                LettaError, match="the entry toys differs from what was sent"
            ):
                registering.ensure_entry(api, ADD, found, lambda _: None)


def test_what_leaves_is_deleted_if_it_is_ours() -> None:
    wanted = make_desired_state(make_tool("add"))
    found = make_current_state(
        wanted, make_registered_tool("add"), make_registered_tool("gone")
    )
    plan = make_plan(wanted, found)
    theirs = make_current_state(
        wanted,
        make_registered_tool("add"),
        make_registered_tool("gone", server_id="mcp-2"),
    )
    for now, done in [(found, [("delete_tool", "id-gone")]), (theirs, [])]:
        api: Any = Registers()
        registering.delete_obsolete_tools(api, plan, now, lambda _: None)
        assert api.done == done

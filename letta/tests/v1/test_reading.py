"""Parsing of Letta's answers, and registration of missing tools."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from letta.tests.planning.states import (
    ADD,
    URL,
    index_by_name,
    make_applied,
    make_built_in,
    make_current,
    make_desired,
    make_entry,
    make_plan,
    make_registered,
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
def test_build_server_config_replaces_authorization_and_keeps_other_headers(
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
def test_parse_entry_reads_url_transport_and_token_for_an_mcp_server_in_letta(
    wanted: Any, more: Any, made: Any
) -> None:
    assert _parse_entry({"id": "mcp-1", "server_name": "toys", **more}, wanted) == made


RAW = {"server_url": URL, "mcp_server_type": "streamable_http", "custom_headers": None}


class FakeToolLists:
    """A stand-in for the API that lists tools of an entry or of a probed server."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def _list_tools(self, name: str) -> list[dict[str, Any]]:
        if self.error is not None:
            raise self.error
        return [{"name": name}]

    def list_live_tools(self, server: str) -> Any:
        return self._list_tools("live")

    def probe_server(self, server: str, config: Any) -> Any:
        return self._list_tools("asked")


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
def test_probe_offered_tools_asks_the_mcp_server_if_letta_has_no_equal_entry_for_it(
    raw: Any, name: str
) -> None:
    api: Any = FakeToolLists()
    found, unreachable = _probe_offered_tools(api, ADD, raw)
    assert ([*found], unreachable) == ([name], "")


@pytest.mark.parametrize(
    ("status", "is_raised"), [(401, True), (403, True), (402, False), (500, False)]
)
def test_probe_offered_tools_raises_letta_error_only_for_http_401_and_403(
    status: int, is_raised: bool
) -> None:
    api: Any = FakeToolLists(LettaError("no", status))
    if is_raised:
        with pytest.raises(LettaError):
            _probe_offered_tools(api, ADD, None)
        return
    assert _probe_offered_tools(api, ADD, None) == ({}, "no")


def test_unreachable_mcp_server_error_mentions_the_token_only_if_configured() -> None:
    away = LettaError("Cannot CONNECT")
    detail = ": Cannot CONNECT"
    assert _explain_unreachable(away, ADD) == f"the server is not reachable{detail}"
    assert (
        _explain_unreachable(away, WITH_TOKEN)
        == f"the server is not reachable or refuses the token{detail}"
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
def test_parse_offered_tool_reports_its_input_schema_or_health_problem(
    more: Any, problem: str
) -> None:
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
def test_parse_registered_tool_reads_owner_server_id_and_called_server_name(
    more: Any, found: Any
) -> None:
    made = _parse_registered_tool(
        {"id": "1", "name": "a", "tool_type": "custom", **more}
    )
    assert (made.server_id, made.called_at) == found
    assert [*made.settings.values()] == [None, None, None]


def read_agent_with(**more: Any) -> Any:
    raw = {"id": "1", "name": "a", "agent_type": "x", "tools": [], **more}
    api: Any = SimpleNamespace(get_agent=lambda _: raw)
    return read_agent(api, "1")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"tools": None}, "no list of tools"),
        ({"tools": [{"name": "a"}]}, "no list of tools"),
        ({"tools": ["a"]}, "no list of tools"),
        ({"tool_rules": [{"tool_name": "a"}]}, "no list of rules"),
        ({"tool_rules": {"a": 1}}, "no list of rules"),
    ],
)
def test_read_agent_raises_for_invalid_letta_tool_or_rule_lists(
    more: Any, message: str
) -> None:
    with pytest.raises(LettaError, match=message):
        read_agent_with(**more)
    assert read_agent_with(tool_rules=None, tags=None).tags == ()


@pytest.mark.parametrize(
    ("status", "expected_message"), [(404, "Letta has no agent 1"), (403, "no")]
)
def test_read_agent_error_for_http_404_names_the_letta_agent_id(
    status: int, expected_message: str
) -> None:
    def agent(_: str) -> Any:
        raise LettaError("no", status)

    api: Any = SimpleNamespace(get_agent=agent)
    with pytest.raises(LettaError) as error_info:
        read_agent(api, "1")
    assert (str(error_info.value), error_info.value.status) == (
        expected_message,
        status,
    )


def test_find_holders_lists_other_letta_agents_with_a_tool_attached() -> None:
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


class FakeRegistryApi:
    """A stand-in for the API that records registry requests."""

    def __init__(self, *tools: Any, live: Any = ()) -> None:
        self.done: list[Any] = []
        self.registry = index_by_name(*tools)
        self.live = live

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.done.append((name, *args))


def test_letta_refresh_is_permitted_up_to_50_tools_without_removals() -> None:
    """Letta refreshes 50 tools and deletes those that the server does not offer."""
    plan = make_plan(ADD, make_applied())
    for there, new, may in [
        (50, [], True),
        (49, ["new"], True),
        (51, [], False),
        (50, ["new"], False),
    ]:
        tools = (make_built_in(f"t{n}") for n in range(there - 3))
        assert registering._can_refresh(plan, make_current(ADD, *tools), new) is may
    found = make_applied()
    assert registering._can_refresh(plan, found, ["add"])
    own = make_current(ADD, make_registered("add"), make_registered("old"))
    assert not registering._can_refresh(plan, own, [])


def test_restore_settings_restores_letta_tool_settings_that_a_registration_reset(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = index_by_name(
        make_registered(
            "a", settings={"return_char_limit": 1, "default_requires_approval": True}
        ),
        make_registered("same", settings={"return_char_limit": 5}),
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
    api: Any = FakeRegistryApi()
    messages: list[str] = []
    registering.restore_settings(api, before, messages.append)
    assert api.done == [("update_tool", "id-a", {"return_char_limit": 5})]
    assert messages == ["restored settings of a: return_char_limit"]
    registering.restore_settings(api, {}, messages.append)
    assert len(messages) == 1


@pytest.mark.parametrize(
    ("found", "live", "asked"),
    [
        (make_applied(), None, []),
        (make_current(ADD), "ADD", ["refresh_server", "register_tool"]),
        (
            make_current(ADD, *(make_built_in(f"t{n}") for n in range(48))),
            "ADD",
            ["register_tool"],
        ),
        (make_current(ADD, entry=None), "ADD", ["register_tool"]),
        (
            make_current(ADD, make_registered("add", called_at="toy")),
            "ADD",
            ["refresh_server", "register_tool"],
        ),
    ],
)
def test_register_tools_registers_missing_letta_tools_by_refresh_then_separately(
    monkeypatch: pytest.MonkeyPatch, found: Any, live: Any, asked: list[str]
) -> None:
    monkeypatch.setattr(registering, "read_registry", lambda _: found.registry)
    monkeypatch.setattr(
        registering, "read_offered_tools", lambda *_: offer_tools(make_tool("add"))
    )
    api: Any = FakeRegistryApi()
    plan = make_plan(ADD, found)
    registering.register_tools(api, ADD, plan, found, {}, lambda _: None)
    assert [name for name, *_ in api.done] == asked


def test_register_tools_stops_if_the_mcp_servers_tool_list_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        registering, "read_offered_tools", lambda *_: offer_tools(make_tool("b"))
    )
    found = make_current(ADD)
    api: Any = FakeRegistryApi()
    with pytest.raises(LettaError, match="the tools of the MCP server have changed"):
        registering.register_tools(
            api, ADD, make_plan(ADD, found), found, {}, lambda _: None
        )
    assert api.done == []


@pytest.mark.parametrize(
    ("found", "asked"),
    [
        (make_applied(), []),
        (make_applied(entry=None), ["create_server"]),
        (make_applied(entry=make_entry("http://old.test")), ["update_server"]),
        (make_applied(entry=make_entry(has_token=False)), ["update_server"]),
    ],
)
def test_ensure_entry_creates_or_updates_and_verifies_the_mcp_server_in_letta(
    monkeypatch: pytest.MonkeyPatch, found: Any, asked: list[str]
) -> None:
    monkeypatch.setattr(
        registering, "find_raw_entry", lambda *_: {"custom_headers": {"X": "1"}}
    )
    monkeypatch.setattr(registering, "read_current_state", lambda *_: make_applied())
    api: Any = FakeRegistryApi()
    registering.ensure_entry(api, ADD, found, lambda _: None)
    assert [name for name, *_ in api.done] == asked
    for bad in (None, make_entry(has_token=False)):
        now = make_applied(entry=bad)
        monkeypatch.setattr(registering, "read_current_state", lambda *_, now=now: now)
        if asked:
            with pytest.raises(
                LettaError, match="the entry toys differs from what was sent"
            ):
                registering.ensure_entry(api, ADD, found, lambda _: None)


def test_delete_obsolete_tools_deletes_only_owned_letta_tools() -> None:
    wanted = make_desired(make_tool("add"))
    found = make_current(wanted, make_registered("add"), make_registered("gone"))
    plan = make_plan(wanted, found)
    theirs = make_current(
        wanted, make_registered("add"), make_registered("gone", server_id="mcp-2")
    )
    for now, done in [(found, [("delete_tool", "id-gone")]), (theirs, [])]:
        api: Any = FakeRegistryApi()
        registering.delete_obsolete_tools(api, plan, now, lambda _: None)
        assert api.done == done

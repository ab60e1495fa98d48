"""Boundary values of the extension's rules."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta import rules
from toolcast_letta.handler_code import ANY_TOOL
from toolcast_letta.settings import LettaAgent, LettaBlock, LettaServer, LettaSettings

ATTACHED = {"attached": True}


def spec(name: str = "note", letta: Any = None, **more: Any) -> Any:
    known = {"timeout": None, "confirm": None, "renamed_from": (), "data": None}
    parts = {} if letta is None else {"letta": letta}
    return SimpleNamespace(name=name, extensions=parts, **{**known, **more})


def toolset(*tools: Any, clients: Any = (), letta: Any = None, **more: Any) -> Any:
    return SimpleNamespace(
        name="toys",
        tools=tools,
        clients=clients,
        extensions={} if letta is None else {"letta": letta},
        find_client=lambda name: next(
            (item for item in clients if item.name == name), None
        ),
        **more,
    )


@pytest.fixture(autouse=True)
def replace_problem_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """Represent a problem by its path and message."""
    monkeypatch.setattr(
        rules, "problem_at", lambda where, path, message, help_="", **_: (path, message)
    )


def collect_problems(problems: Any) -> list[Any]:
    return list(problems)


NO_SUBJECT: Any = None


@pytest.mark.parametrize(
    ("length", "letta", "is_found"),
    [(48, ATTACHED, False), (49, ATTACHED, True), (49, {}, False), (49, None, False)],
)
def test_toolcast_check_reports_names_over_48_characters_only_for_letta_attached_tools(
    length: int, letta: Any, is_found: bool
) -> None:
    item = spec("x" * length, letta)
    expected = [
        (("name",), f"the name has {length} characters; Letta accepts at most 48")
    ]
    assert (
        collect_problems(rules.check_name_too_long.problems(item, NO_SUBJECT))
        == expected * is_found
    )


@pytest.mark.parametrize(
    ("own", "all_", "letta", "place"),
    [
        (120, 60, ATTACHED, None),
        (120.5, 60, ATTACHED, ("timeout",)),
        (None, 120, ATTACHED, None),
        (None, 121, ATTACHED, ("letta", "attached")),
        (60, 121, ATTACHED, None),
        (121, 60, {}, None),
    ],
)
def test_toolcast_check_reports_timeouts_over_120_seconds_only_for_letta_attached_tools(
    own: Any, all_: Any, letta: Any, place: Any
) -> None:
    where: Any = SimpleNamespace(toolset=SimpleNamespace(timeout=all_))
    problems = collect_problems(
        rules.check_long_timeout.problems(spec(letta=letta, timeout=own), where)
    )
    assert [path for path, _ in problems] == ([] if place is None else [place])
    if place == ("timeout",):
        assert problems[0][1].startswith("`note` has a timeout of 120.5 s; attached")
    elif place:
        assert (
            "has a timeout of 121 s from the toolset; attached tools can have at "
            "most 120 s"
        ) in problems[0][1]


@pytest.mark.parametrize(
    ("letta", "confirm", "count"),
    [
        ({"requires_approval": True}, "Sure?", 1),
        ({"requires_approval": False}, "Sure?", 1),
        ({"requires_approval": True}, None, 0),
        (ATTACHED, "Sure?", 0),
    ],
)
def test_toolcast_check_reports_requires_approval_next_to_confirm_as_a_duplicate(
    letta: Any, confirm: Any, count: int
) -> None:
    assert (
        len(
            collect_problems(
                rules.check_duplicate_confirmation.problems(
                    spec(letta=letta, confirm=confirm), NO_SUBJECT
                )
            )
        )
        == count
    )


@pytest.mark.parametrize(
    ("letta", "count"),
    [
        ({"attached": True, "calls_agent_loop": True}, 1),
        ({"attached": True}, 0),
        ({"calls_agent_loop": True}, 0),
        (None, 0),
    ],
)
def test_toolcast_check_reports_an_attached_letta_tool_with_calls_agent_loop(
    letta: Any, count: int
) -> None:
    assert (
        len(
            collect_problems(
                rules.check_circular_tool.problems(spec(letta=letta), NO_SUBJECT)
            )
        )
        == count
    )


@pytest.mark.parametrize(
    ("client_confirms", "confirm", "letta", "count"),
    [
        (False, "Sure?", ATTACHED, 1),
        (None, "Sure?", ATTACHED, 1),
        (True, "Sure?", ATTACHED, 0),
        (False, None, ATTACHED, 0),
        (False, "Sure?", {}, 0),
    ],
)
def test_toolcast_check_reports_a_tool_with_confirm_if_the_letta_client_cannot_confirm(
    client_confirms: bool | None, confirm: Any, letta: Any, count: int
) -> None:
    clients = (
        ()
        if client_confirms is None
        else (SimpleNamespace(name="a", client_confirms=client_confirms),)
    )
    item = spec(letta=letta, confirm=confirm)
    made = toolset(item, clients=clients, letta={"server": {"client": "a"}})
    assert (
        len(collect_problems(rules.check_refused_approval.problems(made, NO_SUBJECT)))
        == count
    )


@pytest.mark.parametrize(
    ("tools", "shown"),
    [
        ((), "sends a message to the agent: `{}`"),
        (
            (ANY_TOOL,),
            "can call any tool, including tools that send a message to the agent: `{}`",
        ),
        (("a",), "calls a tool that sends a message to the agent: `{}`"),
    ],
)
def test_toolcast_check_message_about_handler_code_truncates_the_code_to_80_characters(
    tools: Any, shown: str
) -> None:
    for length in (80, 81):
        sent: Any = SimpleNamespace(text="x" * length, tools=tools)
        assert rules.describe_sending_use(sent) == shown.format("x" * 80)


@pytest.mark.parametrize(("unread", "count"), [(2, 2), (3, 3), (4, 3)])
def test_toolcast_check_reports_at_most_three_reasons_for_unanalyzed_handler_code(
    monkeypatch: pytest.MonkeyPatch, unread: int, count: int
) -> None:
    reached = SimpleNamespace(problems=[f"r{n}" for n in range(unread)])
    monkeypatch.setattr(rules, "analyze_handler", lambda *_: reached)
    for item, expected in (
        (spec(letta=ATTACHED), count),
        (spec(), 0),
        (spec(letta=ATTACHED, data={"pool": "a"}), 0),
    ):
        assert (
            len(
                collect_problems(
                    rules.check_unanalyzed_code.problems(toolset(item), NO_SUBJECT)
                )
            )
            == expected
        )
    monkeypatch.setattr(rules, "analyze_handler", lambda *_: None)
    assert (
        collect_problems(
            rules.check_unanalyzed_code.problems(
                toolset(spec(letta=ATTACHED)), NO_SUBJECT
            )
        )
        == []
    )


@pytest.mark.parametrize(
    ("reached", "senders", "count"),
    [
        (SimpleNamespace(problems=()), {}, 1),
        (SimpleNamespace(problems=("x",)), {}, 0),
        (SimpleNamespace(problems=()), {"note": 1}, 0),
        (None, {}, 0),
    ],
)
def test_toolcast_check_reports_calls_agent_loop_for_a_handler_that_messages_no_agent(
    monkeypatch: pytest.MonkeyPatch, reached: Any, senders: Any, count: int
) -> None:
    monkeypatch.setattr(rules, "analyze_handler", lambda *_: reached)
    monkeypatch.setattr(rules, "find_sending_uses", lambda *_: senders)
    item = spec(letta={"calls_agent_loop": True})
    assert (
        len(
            collect_problems(
                rules.check_unused_loop_declaration.problems(
                    toolset(item, spec("b")), NO_SUBJECT
                )
            )
        )
        == count
    )


SENT = SimpleNamespace(file="a.py", line=3, text="x", tools=(), call_path=())


@pytest.mark.parametrize(
    ("letta", "place"),
    [
        ({"reason": "No."}, ("letta",)),
        (None, ("name",)),
        ({"attached": True}, None),
        ({"calls_agent_loop": True}, None),
    ],
)
def test_toolcast_check_reports_a_message_to_the_agent_without_calls_agent_loop(
    monkeypatch: pytest.MonkeyPatch, letta: Any, place: Any
) -> None:
    monkeypatch.setattr(rules, "find_sending_uses", lambda *_: {"note": SENT})
    made = toolset(spec(letta=letta), spec("other", ATTACHED))
    problems = collect_problems(rules.check_undeclared_loop.problems(made, NO_SUBJECT))
    assert [path for path, _ in problems] == ([] if place is None else [place])
    assert (
        collect_problems(
            rules.check_undeclared_loop.problems(toolset(spec()), NO_SUBJECT)
        )
        == []
    )


def test_tools_whose_handlers_call_a_message_sending_tool_count_as_message_sending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make_analysis(*tools: str) -> Any:
        return SimpleNamespace(observations=[SimpleNamespace(tools=tools)])

    places = {
        "sends": make_analysis(),
        "calls": make_analysis("was_sends"),
        "calls_it": make_analysis("calls"),
        "calls_any": make_analysis(ANY_TOOL),
        "calls_declared": make_analysis("declared"),
        "calls_none": make_analysis("quiet"),
        "quiet": None,
        "declared": SimpleNamespace(observations=[]),
    }
    monkeypatch.setattr(rules, "analyze_handler", lambda _, __, item: places[item.name])
    tools = [
        spec(
            name,
            {"calls_agent_loop": True} if name == "declared" else None,
            renamed_from=("was_sends",) if name == "sends" else (),
        )
        for name in reversed(places)
    ]
    assert {*rules.find_sending_uses(NO_SUBJECT, toolset(*tools))} == {
        "sends",
        "calls",
        "calls_it",
        "calls_any",
        "calls_declared",
    }
    alone = toolset(*(item for item in tools if item.name in ("calls_any", "quiet")))
    assert rules.find_sending_uses(NO_SUBJECT, alone) == {}


CLIENT = SimpleNamespace(name="agent")


@pytest.mark.parametrize(
    ("server", "clients", "paths"),
    [
        ({"url": "http://a"}, (), []),
        ({"url_env": "U"}, (), []),
        ({}, (), [()]),
        ({"url": "http://a", "url_env": "U"}, (), [("server", "url_env")]),
        ({"url": "http://"}, (), [("server", "url")]),
        ({"url": "http://a", "client": "agent"}, (CLIENT,), []),
        ({"url": "http://a"}, (CLIENT,), [()]),
        ({"url": "http://a", "client": "agnet"}, (CLIENT,), [("server", "client")]),
        ({"url": "http://a", "client": "agent"}, (), [("server", "client")]),
    ],
)
def test_toolcast_check_reports_invalid_letta_server_settings_at_their_path(
    server: Any, clients: Any, paths: Any
) -> None:
    settings = LettaSettings(name="toys", server=LettaServer("toys", **server))
    faults = rules._check_server(toolset(clients=clients), settings)
    assert [path for path, _, _ in faults] == paths


@pytest.mark.parametrize(
    ("agent", "paths"),
    [
        ({"id": "1"}, []),
        ({"id_env": "A"}, []),
        ({}, [()]),
        ({"id": "1", "id_env": "A"}, [()]),
        ({"id": "1", "expects": ("a",), "ends_turn": ("a",)}, []),
        ({"id": "1", "ends_turn": ("a",)}, [("ends_turn",)]),
        ({"id": "1", "expects": ("note",)}, [("expects",)]),
        ({"id": "1", "expects": ("a",), "forbids": {"a": "x"}}, [("forbids",)]),
        ({"id": "1", "forbids": {"note": "x"}}, [("forbids",)]),
        ({"id": "1", "forbids": {"spare": "x"}}, []),
        (
            {"id": "1", "blocks": (LettaBlock("a", "tools"), LettaBlock("b", "data"))},
            [],
        ),
        (
            {"id": "1", "blocks": (LettaBlock("a", "tools"), LettaBlock("a", "data"))},
            [("blocks",)],
        ),
    ],
)
def test_toolcast_check_reports_invalid_letta_agent_settings_at_their_path(
    agent: Any, paths: Any
) -> None:
    made = toolset(spec(letta=ATTACHED), spec("spare", {"attached": False}))
    faults = rules._check_agent(made, LettaAgent("me", **agent))
    assert [path for path, _, _ in faults] == [
        ("agents", "me", *path) for path in paths
    ]

"""What is planned and refused for the settings of Letta Code, by what stands in them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from letta.tests.planning.states import URL, agent, current, desired, offered, tool
from toolcast_letta.plan.agent_servers import build_desired_entry, set_entry
from toolcast_letta.plan.changes_since import list_changes_since
from toolcast_letta.plan.current_state import AgentState
from toolcast_letta.plan.plan import Overrides, Plan
from toolcast_letta.plan.planning import build_plan

WANTED = desired(tool("add"))
OURS = {
    "name": "toys",
    "transport": "http",
    "url": URL,
    "headers": {"X-Agent-Id": "agent-1"},
}
OTHERS = {"name": "toys", "transport": "http", "url": "https://other.test"}
PROGRAM = {"name": "toys", "command": "run"}


def planned(*servers: Any, wanted: Any = WANTED, allow: Any = (), **more: Any) -> Plan:
    return build_plan(
        "settings.json", wanted, there(*servers, **more), Overrides(capture=allow)
    )


def there(*servers: Any, known: Any = (None,), **more: Any) -> Any:
    kept = {key: more.pop(key) for key in ("home", "is_ambiguous") if key in more}
    state = AgentState(
        "agent-1", "me", "", {}, (), servers=servers, known_homes=known, **kept
    )
    more = {
        "backend": "code",
        "version": "",
        "entry": None,
        "agents": {"me": state},
        **more,
    }
    return replace(current(WANTED, registry={}), **more)


@pytest.mark.parametrize(
    ("plan", "refused"),
    [
        (planned(OURS), []),
        (planned(OURS, {"name": "other"}, {"name": "third"}), []),
        (planned(OURS, OURS), ["twice: me has 2 servers named toys"]),
        (
            planned(OTHERS),
            [
                "capture: me has a server toys that does not belong to the toolset: https"
            ],
        ),
        (
            planned(PROGRAM),
            ["capture: me has a server toys that does not belong to the toolset: run"],
        ),
        (
            planned({"name": "toys"}),
            ["capture: me has a server toys that does not belong to the toolset: an"],
        ),
        (planned(OTHERS, allow=("toys",)), []),
        (planned(OTHERS, allow=("other",)), ["capture: "]),
        # It names the agent as only an apply does, and the server has moved.
        (planned({**OURS, "url": "https://old.test"}), []),
        (
            planned(
                {
                    **OURS,
                    "url": "https://old.test",
                    "headers": {"x-agent-id": "agent-1"},
                }
            ),
            [],
        ),
        (
            planned(
                {
                    **OURS,
                    "url": "https://old.test",
                    "headers": {"X-Agent-Id": "agent-2"},
                }
            ),
            ["capture: "],
        ),
        (planned({**OURS, "transport": "sse"}), ["capture: "]),
        (planned({**OURS, "command": "run"}), ["capture: "]),
        (planned(OURS, {"name": "t.oys"}), []),
        (
            planned(OURS, {"name": "a b"}, wanted=replace(WANTED, server_name="a.b")),
            [
                (
                    "same-alias: the tools of the server `a b` of me have the same "
                    "prefix, mcp__a_b__"
                )
            ],
        ),
        (
            planned(
                OURS, wanted=replace(WANTED, agents=(agent(forbids={"add": "No."}),))
            ),
            [
                "forbidden: the MCP server offers `add` to me, which must not have it: No."
            ],
        ),
        (
            planned(known=(None, "local:/x"), is_ambiguous=True),
            [
                (
                    "ambiguous-agent: the settings file has several agents with the id "
                    "of me (agent-1): on Letta's cloud, local:/x"
                )
            ],
        ),
        (
            planned(OURS, offered={}),
            [
                "empty-list: the MCP server offers no tools, as it can during a deployment"
            ],
        ),
        (
            planned(
                OURS, wanted=desired(tool("x" * 49)), offered=offered(tool("x" * 49))
            ),
            [],
        ),
        (
            planned(OURS, wanted=desired(tool("add"), tool("new"))),
            ["not-deployed: the MCP server does not offer `new`"],
        ),
    ],
)
def test_what_is_refused(plan: Plan, refused: list[str]) -> None:
    said = [f"{one.code}: {one.message}" for one in plan.blockers]
    assert [one[: len(two)] for one, two in zip(said, refused, strict=True)] == refused
    if refused and refused[0].startswith(("empty", "not-dep")):
        assert said[0].endswith(
            ("deployment", "`new`")
        ), "no word of pages and refreshing"


@pytest.mark.parametrize(
    ("plan", "changes", "warnings"),
    [
        (planned(OURS), [], []),
        (planned(), [("+", URL)], ["a running Letta Code"]),
        (
            planned(known=()),
            [("+", URL)],
            [
                (
                    "the settings file has no entry for me; applying adds agent-1 on "
                    "Letta's cloud"
                ),
                "a running Letta Code",
            ],
        ),
        (
            planned(known=(None,), home="local:/x"),
            [("+", URL)],
            [
                "the settings file has no entry for me; applying adds agent-1 on local:/x",
                "a running Letta Code",
            ],
        ),
        (
            planned({**OURS, "url": "https://old.test", "extra": 1}),
            [("~", f"url: https://old.test -> {URL}")],
            ["a running Letta Code"],
        ),
        (
            planned(OTHERS, allow=("toys",)),
            [("~", f"url: https://other.test -> {URL}, headers")],
            ["a running Letta Code"],
        ),
        (
            planned(OURS, wanted=desired(tool("add", requires_approval=True))),
            [],
            [
                "Letta Code ignores `requires_approval` of add: it has its own permissions"
            ],
        ),
        (
            planned(OURS, wanted=desired(tool("add", attached=False))),
            [],
            [
                (
                    "Letta Code gives agents every offered tool, including tools that "
                    "are not attached: add"
                )
            ],
        ),
    ],
)
def test_what_changes_and_is_told(
    plan: Plan, changes: Any, warnings: list[str]
) -> None:
    assert [(one.action, one.detail) for one in plan.changes] == changes
    zipped = zip(plan.warnings, warnings, strict=True)
    assert [one[: len(two)] for one, two in zipped] == warnings
    assert plan.registry == {}


def test_headers_of_somebody_stay_in_the_toolsets_own_entry() -> None:
    token = replace(WANTED, token="s3cret")
    old = {
        **OURS,
        "headers": {
            "X-Region": "north",
            "authorization": "old",
            "x-agent-id": "agent-1",
        },
    }
    own = {"X-Agent-Id": "agent-1", "Authorization": "Bearer s3cret"}
    assert build_desired_entry([old], token, agent())["headers"] == {
        "X-Region": "north",
        **own,
    }
    assert build_desired_entry([old], WANTED, agent())["headers"] == {
        "X-Region": "north",
        "authorization": "old",
        "X-Agent-Id": "agent-1",
    }
    foreign = {**OTHERS, "headers": {"X-Region": "north"}}
    assert build_desired_entry([foreign], token, agent())["headers"] == own
    assert (
        build_desired_entry([{**OURS, "headers": "x"}], token, agent())["headers"]
        == own
    )


def test_an_entry_is_set_in_its_place() -> None:
    other = {"name": "other"}
    assert set_entry([other], OURS) == [other, OURS]
    assert set_entry([{**OURS, "url": "x", "more": 1}, other], OURS) == [
        {**OURS, "more": 1},
        other,
    ]
    assert set_entry([other, {**PROGRAM, "more": 1}], OURS) == [other, OURS]


def test_a_plan_holds_for_the_settings_that_it_was_made_for() -> None:
    plan = planned({"name": "other"})

    def since(*servers: Any, wanted: Any = WANTED) -> list[str]:
        return list_changes_since(plan, "settings.json", wanted, there(*servers))

    assert since({"name": "other"}) == since({"name": "other"}, OURS) == []
    assert since({"name": "another"}) == ["the MCP servers of me were changed"]
    assert since({"name": "other"}, wanted=replace(WANTED, token="s3cret")) == [
        "the token or a header for me was changed"
    ]

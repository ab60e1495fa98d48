"""Plans for Letta Code's settings: blockers, changes and warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from letta.tests.planning.states import (
    URL,
    make_agent,
    make_current,
    make_desired,
    make_tool,
    offer_tools,
)
from toolcast_letta.plan.agent_servers import build_desired_entry, set_entry
from toolcast_letta.plan.changes_since import list_changes_since
from toolcast_letta.plan.current_state import AgentState
from toolcast_letta.plan.plan import Overrides, Plan
from toolcast_letta.plan.planning import build_plan

DESIRED = make_desired(make_tool("add"))
OURS = {
    "name": "toys",
    "transport": "http",
    "url": URL,
    "headers": {"X-Agent-Id": "agent-1"},
}
OTHERS = {"name": "toys", "transport": "http", "url": "https://other.test"}
PROGRAM = {"name": "toys", "command": "run"}


def build_plan_for(
    *servers: Any, wanted: Any = DESIRED, allow: Any = (), **more: Any
) -> Plan:
    return build_plan(
        "settings.json",
        wanted,
        build_current_state(*servers, **more),
        Overrides(capture=allow),
    )


def build_current_state(*servers: Any, known: Any = (None,), **more: Any) -> Any:
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
    return replace(make_current(DESIRED, registry={}), **more)


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (build_plan_for(OURS), []),
        (build_plan_for(OURS, {"name": "other"}, {"name": "third"}), []),
        (build_plan_for(OURS, OURS), ["twice: me has 2 servers named toys"]),
        (
            build_plan_for(OTHERS),
            [
                "capture: me has a server toys that does not belong to the toolset: https"
            ],
        ),
        (
            build_plan_for(PROGRAM),
            ["capture: me has a server toys that does not belong to the toolset: run"],
        ),
        (
            build_plan_for({"name": "toys"}),
            ["capture: me has a server toys that does not belong to the toolset: an"],
        ),
        (build_plan_for(OTHERS, allow=("toys",)), []),
        (build_plan_for(OTHERS, allow=("other",)), ["capture: "]),
        # It names the agent as only an apply does, and the server has moved.
        (build_plan_for({**OURS, "url": "https://old.test"}), []),
        (
            build_plan_for(
                {
                    **OURS,
                    "url": "https://old.test",
                    "headers": {"x-agent-id": "agent-1"},
                }
            ),
            [],
        ),
        (
            build_plan_for(
                {
                    **OURS,
                    "url": "https://old.test",
                    "headers": {"X-Agent-Id": "agent-2"},
                }
            ),
            ["capture: "],
        ),
        (build_plan_for({**OURS, "transport": "sse"}), ["capture: "]),
        (build_plan_for({**OURS, "command": "run"}), ["capture: "]),
        (build_plan_for(OURS, {"name": "t.oys"}), []),
        (
            build_plan_for(
                OURS, {"name": "a b"}, wanted=replace(DESIRED, server_name="a.b")
            ),
            [
                (
                    "same-alias: the tools of the server `a b` of me have the same "
                    "prefix, mcp__a_b__"
                )
            ],
        ),
        (
            build_plan_for(
                OURS,
                wanted=replace(DESIRED, agents=(make_agent(forbids={"add": "No."}),)),
            ),
            [
                "forbidden: the MCP server offers `add` to me, which must not have it: No."
            ],
        ),
        (
            build_plan_for(known=(None, "local:/x"), is_ambiguous=True),
            [
                (
                    "ambiguous-agent: the settings file has several agents with the id "
                    "of me (agent-1): on Letta's cloud, local:/x"
                )
            ],
        ),
        (
            build_plan_for(OURS, offered={}),
            [
                "empty-list: the MCP server offers no tools, as it can during a deployment"
            ],
        ),
        (
            build_plan_for(
                OURS,
                wanted=make_desired(make_tool("x" * 49)),
                offered=offer_tools(make_tool("x" * 49)),
            ),
            [],
        ),
        (
            build_plan_for(
                OURS, wanted=make_desired(make_tool("add"), make_tool("new"))
            ),
            ["not-deployed: the MCP server does not offer `new`"],
        ),
    ],
)
def test_letta_code_settings_cause_plan_blockers(
    plan: Plan, expected: list[str]
) -> None:
    """Block duplicate or foreign servers, equal prefixes and forbidden tools."""
    messages = [f"{item.code}: {item.message}" for item in plan.blockers]
    assert [
        item[: len(beginning)]
        for item, beginning in zip(messages, expected, strict=True)
    ] == expected
    if expected and expected[0].startswith(("empty", "not-dep")):
        assert messages[0].endswith(
            ("deployment", "`new`")
        ), "no word of pages and refreshing"


@pytest.mark.parametrize(
    ("plan", "changes", "warnings"),
    [
        (build_plan_for(OURS), [], []),
        (build_plan_for(), [("+", URL)], ["a running Letta Code"]),
        (
            build_plan_for(known=()),
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
            build_plan_for(known=(None,), home="local:/x"),
            [("+", URL)],
            [
                "the settings file has no entry for me; applying adds agent-1 on local:/x",
                "a running Letta Code",
            ],
        ),
        (
            build_plan_for({**OURS, "url": "https://old.test", "extra": 1}),
            [("~", f"url: https://old.test -> {URL}")],
            ["a running Letta Code"],
        ),
        (
            build_plan_for(OTHERS, allow=("toys",)),
            [("~", f"url: https://other.test -> {URL}, headers")],
            ["a running Letta Code"],
        ),
        (
            build_plan_for(
                OURS, wanted=make_desired(make_tool("add", requires_approval=True))
            ),
            [],
            [
                "Letta Code ignores `requires_approval` of add: it has its own permissions"
            ],
        ),
        (
            build_plan_for(OURS, wanted=make_desired(make_tool("add", attached=False))),
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
def test_letta_code_plan_lists_server_entry_changes_and_warnings(
    plan: Plan, changes: Any, warnings: list[str]
) -> None:
    assert [(item.action, item.detail) for item in plan.changes] == changes
    zipped = zip(plan.warnings, warnings, strict=True)
    assert [item[: len(beginning)] for item, beginning in zipped] == warnings
    assert plan.registry == {}


def test_letta_code_server_entry_keeps_custom_headers_unless_the_entry_is_foreign() -> (
    None
):
    token = replace(DESIRED, token="s3cret")
    old = {
        **OURS,
        "headers": {
            "X-Region": "north",
            "authorization": "old",
            "x-agent-id": "agent-1",
        },
    }
    own = {"X-Agent-Id": "agent-1", "Authorization": "Bearer s3cret"}
    assert build_desired_entry([old], token, make_agent())["headers"] == {
        "X-Region": "north",
        **own,
    }
    assert build_desired_entry([old], DESIRED, make_agent())["headers"] == {
        "X-Region": "north",
        "authorization": "old",
        "X-Agent-Id": "agent-1",
    }
    foreign = {**OTHERS, "headers": {"X-Region": "north"}}
    assert build_desired_entry([foreign], token, make_agent())["headers"] == own
    assert (
        build_desired_entry([{**OURS, "headers": "x"}], token, make_agent())["headers"]
        == own
    )


def test_set_entry_replaces_the_letta_code_server_with_the_same_name_in_place() -> None:
    other = {"name": "other"}
    assert set_entry([other], OURS) == [other, OURS]
    assert set_entry([{**OURS, "url": "x", "more": 1}, other], OURS) == [
        {**OURS, "more": 1},
        other,
    ]
    assert set_entry([other, {**PROGRAM, "more": 1}], OURS) == [other, OURS]


def test_letta_code_plan_is_invalid_after_other_mcp_servers_or_the_token_changed() -> (
    None
):
    plan = build_plan_for({"name": "other"})

    def list_changes(*servers: Any, wanted: Any = DESIRED) -> list[str]:
        return list_changes_since(
            plan, "settings.json", wanted, build_current_state(*servers)
        )

    assert (
        list_changes({"name": "other"}) == list_changes({"name": "other"}, OURS) == []
    )
    assert list_changes({"name": "another"}) == ["the MCP servers of me were changed"]
    assert list_changes({"name": "other"}, wanted=replace(DESIRED, token="s3cret")) == [
        "the token or a header for me was changed"
    ]

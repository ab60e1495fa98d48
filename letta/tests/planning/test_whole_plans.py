"""Complete plans: all changes with their reasons, for a desired and a current state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from letta.tests.planning.states import (
    ADD,
    CORE,
    make_agent,
    make_agents,
    make_applied,
    make_current,
    make_desired,
    make_entry,
    make_plan,
    make_registered,
    make_rule,
    make_state,
    make_tool,
    offer_tools,
)
from toolcast_letta.plan.report import format_plan

FULL_PLAN = """\
toys on Letta 0.16.6 at https://letta.test
me is agent-1, a letta_v1_agent

  MCP server entry
    ~ toys  (url http://old.test/mcp -> https://mcp.test/mcp)
    ~ toys  (bearer token (not shown))  # the previous token is not saved

  registry, for every agent of the organization
    ~ ask  (new description or parameters, same id)  # needs the previous version of the MCP server
    + end_day, new  (registered)  # rollback keeps it registered
  -/+ seek -> find  (renamed: seek is deleted for every agent; its id cannot be restored)  # cannot be undone: renamed
    ~ lost  (wrong tag: Letta does not know its server, and every call fails)  # rollback keeps the new tag
    ~ moved  (wrong tag: Letta calls it on the server `toy`)  # rollback keeps the new tag
    ~ taken  (taken over from the MCP server `others`)  # rollback does not return it to its owner
    - gone  (deleted for every agent, also you, they)  # cannot be undone: needs the previous version of the MCP server

  tools of me
    + theirs, ask, end_day, find, lost, moved, new, taken  (attached)
    - seek  (detached: now find)
    - gone, spare  (detached)
    - spy  (detached: It tells.)

  rules of me
    + find  run_first
    + end_day  exit_loop
    + ask  requires_approval
    - seek  run_first
    - gone  continue_loop
    - add  exit_loop

  me keeps add, conversation_search, memory, send_message, strange

warning: Letta does not register tools whose schemas it does not accept: `hid`

warning: me has rules that neither the specs nor the type letta_v1_agent require, and applying keeps them: `find run_first`

refused: `taken` belongs to the MCP server `others`: registering the MCP server would take it over (capture)
  help: rename the tool, or pass --allow-capture taken

refused: deleting `gone` would remove it from other agents: you, they (other-agents)
  help: detach it from them first, or pass --allow-delete gone

refused: me has `strange`, which is not in the registry: it was deleted while the state was read (unknown-tool)
  help: plan again

Refused: 3 blockers.
"""


def test_complete_letta_plan_lists_all_changes_warnings_and_blockers() -> None:
    wanted = make_desired(
        make_tool("add"),
        make_tool("ask", requires_approval=True),
        make_tool("end_day", ends_turn=True),
        make_tool("find", "seek"),
        *(make_tool(name, attached=False) for name in ("spare", "hid")),
        *(make_tool(name) for name in ("new", "taken", "moved", "lost")),
        agents=(make_agent(expects=("theirs",), forbids={"spy": "It tells."}),),
    )
    of_others = {"server_id": "mcp-2"}
    names = (*CORE, "add", "seek", "gone", "spy", "spare", "strange")
    rules = (
        make_rule("seek", "run_first"),
        make_rule("gone", "continue_loop"),
        make_rule("add", "exit_loop"),
    )
    found = make_current(
        wanted,
        *(make_registered(name) for name in ("add", "seek", "gone", "spare")),
        make_registered("ask", digest="another"),
        make_registered("moved", called_at="toy"),
        make_registered("lost", called_at=""),
        *(make_registered(name, **of_others) for name in ("spy", "taken")),
        make_registered("theirs", type="custom", server_id=None),
        entry=make_entry("http://old.test/mcp", has_token=False),
        entry_names={"mcp-1": "toys", "mcp-2": "others"},
        holders={"gone": ("you", "they")},
        offered=offer_tools(*wanted.tools.values(), hid="no type"),
        agents={"me": make_state(*names, rules=rules)},
    )
    plan = make_plan(wanted, found)
    assert format_plan(plan) == FULL_PLAN
    assert [item.name for item in plan.removals] == [
        "seek -> find",
        "gone",
        "seek",
        "gone",
        "spy",
        "spare",
        "seek run_first",
        "gone continue_loop",
        "add exit_loop",
    ]
    allowed = make_plan(wanted, found, delete=("gone",), capture=("taken",))
    assert [item.code for item in allowed.blockers] == ["unknown-tool"]
    digests = {item.name: item.digest for item in wanted.tools.values()}
    known = {name: (f"ours {d}", f"ours {d}") for name, d in digests.items()}
    assert plan.entry == "http http://old.test/mcp no token"
    assert plan.registry == known | {
        "ask": ("ours another", known["ask"][1]),
        **{name: (None, known[name][1]) for name in ("end_day", "find", "hid", "new")},
        "moved": (f"{known['moved'][0]} called at toy", known["moved"][1]),
        "lost": (f"{known['lost'][0]} called at ", known["lost"][1]),
        "taken": (f"mcp-2 {digests['taken']}", known["taken"][1]),
        **{
            name: (f"ours {make_registered(name).digest}", None)
            for name in ("gone", "seek")
        },
    }


@pytest.mark.parametrize(
    ("token", "token_note"),
    [("s3cret", ", with a bearer token (not shown)"), (None, "")],
)
def test_first_letta_plan_creates_the_server_entry_and_attaches_tools(
    token: str | None, token_note: str
) -> None:
    wanted = make_desired(make_tool("add"), token=token)
    found = make_current(wanted, entry=None)
    assert [
        (item.action, item.layer, item.detail)
        for item in make_plan(wanted, found).changes
    ] == [
        ("+", "server", f"streamable HTTP at https://mcp.test/mcp{token_note}"),
        ("+", "registry", "registered"),
        ("+", "tool", "attached"),
    ]


def test_letta_plan_attaches_a_tool_again_if_its_registry_id_changed() -> None:
    other = replace(
        make_state(*CORE), tools={**make_state(*CORE).tools, "add": "id-before"}
    )
    plan = make_plan(ADD, make_applied(agents={"me": other}))
    assert [(item.action, item.name, item.detail) for item in plan.changes] == [
        ("~", "add", "attached by its new id")
    ]


def test_letta_plan_deletes_a_renamed_tools_previous_name_only_if_owned() -> None:
    """Delete the old tool if the toolset's own MCP server registered it."""
    wanted = make_desired(make_tool("find", "seek"))
    found = make_current(wanted, make_registered("find"), make_registered("seek"))
    assert [
        (item.action, item.layer, item.name, item.detail)
        for item in make_plan(wanted, found).changes
    ] == [
        ("-", "registry", "seek", "renamed to find; deleted for every agent"),
        ("-", "tool", "seek", "detached: now find"),
    ]
    theirs = make_current(
        wanted, make_registered("find"), make_registered("seek", server_id="mcp-2")
    )
    assert make_plan(wanted, theirs).changes == ()


def test_letta_plan_moves_rules_to_the_new_name_unless_the_old_tool_is_foreign() -> (
    None
):
    """Treat a tool that another MCP server registered as foreign."""
    wanted = make_desired(make_tool("find", "seek"))
    agents = make_agents(make_rule("seek", "run_first"), names=(*CORE, "find"))
    theirs = make_current(
        wanted,
        make_registered("find"),
        make_registered("seek", server_id="mcp-2"),
        **agents,
    )
    assert make_plan(wanted, theirs).changes == ()
    gone = make_current(wanted, make_registered("find"), **agents)
    assert [(item.action, item.name) for item in make_plan(wanted, gone).changes] == [
        ("+", "find run_first"),
        ("-", "seek run_first"),
    ]


def test_letta_plan_keeps_an_offered_tool_without_a_spec_registered() -> None:
    more = offer_tools(make_tool("add"), make_tool("more"))
    found = make_current(
        ADD, make_registered("add"), make_registered("more"), offered=more
    )
    assert make_plan(ADD, found).changes == ()


def test_letta_plan_removes_nothing_while_the_mcp_server_is_unreachable() -> None:
    found = make_applied(unreachable="away", offered={})
    gone = make_current(
        ADD, make_registered("add"), make_registered("gone"), unreachable="away"
    )
    assert make_plan(ADD, found).changes == make_plan(ADD, gone).changes == ()


def test_letta_plan_blocks_replacing_a_built_in_tool_even_with_allow_capture() -> None:
    wanted = make_desired(make_tool("memory"))
    allowed = make_plan(wanted, make_current(wanted), capture=("memory",))
    assert [item.code for item in allowed.blockers] == ["capture"]


def test_letta_plan_option_drop_stale_removes_only_rules_for_unattached_tools() -> None:
    found = make_applied(
        **make_agents(make_rule("x", "run_first"), make_rule("add", "run_first"))
    )
    plan = make_plan(ADD, found, drop_stale=("x", "add"))
    assert [(item.action, item.name) for item in plan.changes] == [("-", "x run_first")]

"""What somebody may have done to an agent, the registry or the server: verify tells each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from letta.tests.deeds import (
    Deed,
    adds,
    all_of,
    attaches,
    captures,
    configures,
    deletes,
    deletes_the_entry,
    detaches,
    drops,
    is_down,
    offers,
    renames_the_entry,
    rewrites,
    sets,
    turns,
    waits,
)
from letta.tests.stage import Stage
from letta.tests.toy import TOKEN, TOOLSET
from toolcast_letta.plan.report import format_verification

SEARCH = {"tool_name": "search_notes"}
THEIR = {"tool_name": "their_tool"}
INSERT = {"tool_name": "memory_insert"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OPENS = {"children": ["search_notes"]}
"""What a rule lets through, or leads to."""


MENDED: dict[str, tuple[Deed, str]] = {
    "a reading tool is detached": (
        detaches("search_notes"),
        "+ tool search_notes of keeper (attached)",
    ),
    "a changing tool is detached": (detaches("delete_note"), "+ tool delete_note"),
    "a tool that ends the turn is detached": (detaches("end_day"), "+ tool end_day"),
    "an expected tool is detached": (detaches("send_message"), "+ tool send_message"),
    "all of ours are detached": (
        detaches("search_notes", "delete_note", "end_day"),
        "keeper has 0 of 3 canonical tools: none",
    ),
    "a forbidden tool is attached": (attaches("run_code"), "- tool run_code"),
    "a tool that calls the loop is attached": (
        attaches("wake_agent"),
        "- tool wake_agent of keeper (detached: It calls the agent's own loop.)",
    ),
    "a tool that is not for agents is attached": (
        attaches("list_plain"),
        "- tool list_plain",
    ),
    "all rules are gone": (
        lambda stage: stage.patch(tool_rules=[]),
        "+ rule memory_insert continue_loop",
    ),
    "a tool does not go on": (
        drops("search_notes"),
        "+ rule search_notes continue_loop",
    ),
    "a tool does not end the turn": (drops("end_day"), "+ rule end_day exit_loop"),
    "nobody is asked": (
        drops("delete_note", kind="requires_approval"),
        "+ rule delete_note requires_approval",
    ),
    "a tool ends the turn instead": (
        turns("search_notes", "exit_loop"),
        "- rule search_notes exit_loop",
    ),
    "a tool goes on instead": (
        turns("end_day", "continue_loop"),
        "- rule end_day continue_loop",
    ),
    "a tool has both rules": (
        adds({**SEARCH, "type": "exit_loop"}),
        "- rule search_notes exit_loop",
    ),
    "an expected tool does not end the turn": (
        drops("send_message"),
        "+ rule send_message exit_loop",
    ),
    "an expected tool goes on instead": (
        turns("send_message", "continue_loop"),
        "- rule send_message continue_loop",
    ),
    "a built-in tool does not go on": (
        drops("memory_insert"),
        "+ rule memory_insert continue_loop",
    ),
    "a description is another one": (
        rewrites("search_notes", "Search the notes.", "Search nothing."),
        "~ registry search_notes (new description or parameters, same id)",
    ),
    "a parameter's text is another one": (
        rewrites("search_notes", "What to look for.", "Your password."),
        "~ registry search_notes",
    ),
    "a parameter is gone": (
        rewrites("delete_note", '"number"', '"other"'),
        "~ registry delete_note",
    ),
    "the tags of a reading tool are gone": (
        sets("search_notes", tags=[]),
        "~ registry search_notes (wrong tag: Letta does not know its server",
    ),
    "the tags of a changing tool are gone": (
        sets("delete_note", tags=[]),
        "~ registry delete_note (wrong tag: Letta does not know its server",
    ),
    "a tag leads to another server": (
        sets("end_day", tags=["mcp:other", "mcp:toy"]),
        "~ registry end_day (wrong tag: Letta calls it on the server `other`)",
    ),
    "a tool is deleted": (deletes("search_notes"), "+ registry search_notes"),
    "an expected built-in tool is deleted": (
        deletes("send_message"),
        "+ tool send_message",
    ),
    "the address is another one": (
        configures(server_url="http://127.0.0.1:9/mcp"),
        "~ server toy (url http://127.0.0.1:9/mcp -> ",
    ),
    "the token is another one": (
        configures(custom_headers={"Authorization": "Bearer other"}),
        "~ server toy (bearer token (not shown))",
    ),
    "the entry names an agent": (
        configures(custom_headers={**BEARER, "X-Agent-Id": "agent-1"}),
        "~ server toy (the fixed header X-Agent-Id is removed",
    ),
    "the entry names an agent in lower case": (
        configures(custom_headers={**BEARER, "x-agent-id": "", "X-Region": "north"}),
        "~ server toy (the fixed header X-Agent-Id is removed",
    ),
    "the token is gone": (
        configures(custom_headers={"X-Region": "north"}),
        "~ server toy (bearer token (not shown))",
    ),
    "all of it at once": (
        all_of(
            detaches("end_day"), drops("search_notes"), sets("delete_note", tags=[])
        ),
        "~ registry delete_note",
    ),
}
"""Differences, with what is said of each; applying mends them."""

KEPT_AWAY: dict[str, tuple[Deed, str]] = {
    "a tool of others is detached": (
        detaches("their_tool"),
        "`their_tool` was detached from keeper since the baseline",
    ),
    "a rule is of a tool that is gone": (
        adds({"tool_name": "gone", "type": "run_first"}),
        "`send_message`, because of the rule `gone run_first`; remove the rule in Letta",
    ),
    "a tool may never be called": (
        adds({**SEARCH, "type": "max_count_per_step", "max_count_limit": 0}),
        "can never call `search_notes`, because of the rule `search_notes max_count",
    ),
    "the turn begins with its end": (
        adds({"tool_name": "send_message", "type": "run_first"}),
        "can never call `conversation_search`, `delete_note`, `end_day`",
    ),
    "a core tool is detached": (
        detaches("memory_insert"),
        "`memory_insert` was detached from keeper",
    ),
    "another core tool is detached": (
        detaches("memory_replace"),
        "`memory_replace` was detached from keeper",
    ),
    "the search of what was said is detached": (
        detaches("conversation_search"),
        "which a memgpt_v2_agent needs to search earlier messages",
    ),
    "a built-in tool that is not expected is detached": (
        detaches("archival_memory_search"),
        "`archival_memory_search` was detached from keeper",
    ),
    "a core tool ends the turn": (
        turns("memory_insert", "exit_loop"),
        "keeper ends its turn after `memory_insert`, by a rule exit_loop",
    ),
    "a core tool has both rules": (
        adds({**INSERT, "type": "exit_loop"}),
        "keeper ends its turn after `memory_insert`, by a rule exit_loop",
    ),
    "another server has taken a core tool": (
        captures("memory_insert"),
        (
            "`memory_insert` of keeper is not Letta's built-in tool: the MCP "
            "server `other`"
        ),
    ),
    "another server has taken an expected tool": (
        captures("send_message"),
        (
            "`send_message` of keeper is not Letta's built-in tool: the MCP "
            "server `other`"
        ),
    ),
}
"""Differences that no apply mends: they may be meant, and the line says how to say so."""

WARNED: dict[str, tuple[Deed, str]] = {
    "a tool has to be first": (
        adds({**SEARCH, "type": "run_first", "args": {"query": "x"}}),
        "`search_notes run_first (args={'query': 'x'})`",
    ),
    "a tool is limited": (
        adds({**SEARCH, "type": "max_count_per_step", "max_count_limit": 1}),
        "`search_notes max_count_per_step (max_count_limit=1)`",
    ),
    "a tool is asked for": (
        adds({**SEARCH, "type": "requires_approval"}),
        "`search_notes requires_approval`",
    ),
    "a tool has to be called": (
        adds({**SEARCH, "type": "required_before_exit"}),
        "`search_notes required_before_exit`",
    ),
    "a tool leads to others": (
        adds({**SEARCH, "type": "constrain_child_tools", "children": ["end_day"]}),
        "`search_notes constrain_child_tools (children=['end_day'])`",
    ),
    "a tool lets others through": (
        adds({**SEARCH, "type": "parent_last_tool", "children": ["end_day"]}),
        "`search_notes parent_last_tool (children=['end_day'])`",
    ),
    "what a tool gives decides": (
        adds(
            {**SEARCH, "type": "conditional", "child_output_mapping": {"x": "end_day"}}
        ),
        "`search_notes conditional (",
    ),
    "a tool of others leads to ours": (
        adds({**THEIR, **OPENS, "type": "constrain_child_tools"}),
        "`their_tool constrain_child_tools (children=['search_notes'])`",
    ),
    "a tool of others lets ours through": (
        adds({**THEIR, **OPENS, "type": "parent_last_tool"}),
        "`their_tool parent_last_tool (children=['search_notes'])`",
    ),
    "a built-in tool is asked for": (
        adds({**INSERT, "type": "requires_approval"}),
        "`memory_insert requires_approval`",
    ),
    "a built-in tool has to be first": (
        adds({"tool_name": "conversation_search", "type": "run_first"}),
        "`conversation_search run_first`",
    ),
    "another built-in tool ends the turn": (
        turns("archival_memory_search", "exit_loop"),
        "`archival_memory_search exit_loop`",
    ),
    "a rule without effect is of a tool that is gone": (
        adds({"tool_name": "gone", "type": "continue_loop"}),
        "rules of tools that are not attached, which have no effect: `gone continue_loop`",
    ),
    "a tool of Letta that waits for agents is attached": (
        waits("send_message_to_agent_and_wait_for_reply"),
        "waits for another agent's turn: a message to itself blocks its own turn",
    ),
    "a rule leads to a tool that is gone": (
        adds({**THEIR, "type": "constrain_child_tools", "children": ["gone"]}),
        "refers to a tool that is not attached",
    ),
    "what a tool gives is cut": (
        sets("search_notes", return_char_limit=10),
        "`search_notes` return_char_limit 10",
    ),
    "what a built-in tool gives is cut": (
        sets("conversation_search", return_char_limit=10),
        "`conversation_search` return_char_limit 10",
    ),
    "calls run beside one another": (
        sets("delete_note", enable_parallel_execution=True),
        "`delete_note` enable_parallel_execution",
    ),
    "Letta Code has opened the agent": (
        lambda stage: stage.patch(tags=["origin:letta-code"]),
        "Letta Code opens keeper",
    ),
}
"""Kept by design, and not in silence: nothing of it is the specs' to say."""

REFUSED: dict[str, tuple[Deed, str]] = {
    "another server has taken a tool of ours": (
        captures("search_notes"),
        "`search_notes` belongs to the MCP server `other`",
    ),
    "the server is down": (is_down, "Letta cannot list the MCP server's tools"),
    "the server offers nothing": (
        lambda stage: setattr(stage.mcp, "tools", []),
        "offers no tools",
    ),
    "the server offers one less": (
        offers(end_day=None),
        "the MCP server does not offer `end_day`",
    ),
    "the server shows another text": (
        offers(end_day={"description": "Begin the day."}),
        "description or schema of `end_day` differs from the spec",
    ),
    "the server shows another schema": (
        offers(end_day={"inputSchema": {"type": "object", "required": ["x"]}}),
        "description or schema of `end_day` differs from the spec",
    ),
    "whose tool it is, is not known": (
        sets("search_notes", metadata_={}),
        "`search_notes` belongs to a external_mcp tool",
    ),
}
"""What an apply would make worse."""


@pytest.fixture
def told(stage: Stage) -> Callable[[Deed], Any]:
    """What verify finds behind a deed, without calling a tool."""
    stage.apply()
    assert stage.verify(examples=False).all_match

    def of(deed: Deed) -> Any:
        deed(stage)
        return stage.verify(examples=False)

    return of


@pytest.mark.parametrize(("deed", "said"), MENDED.values(), ids=MENDED)
def test_is_a_difference_that_applying_mends(
    told: Any, stage: Stage, deed: Deed, said: str
) -> None:
    found = told(deed)
    assert said in format_verification(found)
    assert not found.all_match
    stage.apply()
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(("deed", "said"), KEPT_AWAY.values(), ids=KEPT_AWAY)
def test_is_a_difference_that_stays(
    told: Any, stage: Stage, deed: Deed, said: str
) -> None:
    found = told(deed)
    assert said in format_verification(found)
    assert not found.all_match
    assert found.plan.missing


@pytest.mark.parametrize(("deed", "said"), WARNED.values(), ids=WARNED)
def test_is_kept_with_a_warning(told: Any, stage: Stage, deed: Deed, said: str) -> None:
    found = told(deed)
    assert said in "\n".join(found.plan.warnings)
    assert found.all_match
    assert found.plan.changes == ()


@pytest.mark.parametrize(("deed", "said"), REFUSED.values(), ids=REFUSED)
def test_is_a_difference_that_no_apply_touches(
    told: Any, stage: Stage, deed: Deed, said: str
) -> None:
    found = told(deed)
    assert said in format_verification(found)
    assert not found.all_match
    assert found.plan.blockers


def test_an_approval_of_the_registry_becomes_a_rule_and_is_told(
    told: Any, stage: Stage
) -> None:
    found = told(sets("search_notes", default_requires_approval=True))
    assert "+ rule search_notes requires_approval" in format_verification(found)
    stage.apply()
    found = stage.verify(examples=False)
    assert found.all_match
    assert "`search_notes` default_requires_approval" in "\n".join(found.plan.warnings)


@pytest.mark.parametrize("deed", [renames_the_entry, deletes_the_entry])
def test_an_entry_of_another_name_is_no_match(told: Any, deed: Deed) -> None:
    assert "+ server toy" in format_verification(told(deed))


def test_an_expected_tool_goes_on_where_the_specs_say_so(
    told: Any, stage: Stage
) -> None:
    expected = "expects: [send_message, memory_insert]"
    stage.project.edit("specs/toy/toolset.yaml", "expects: [send_message]", expected)
    found = told(turns("memory_insert", "exit_loop"))
    assert "- rule memory_insert exit_loop of keeper" in found.differences
    ends = "ends_turn: [send_message, memory_insert]"
    stage.project.edit("specs/toy/toolset.yaml", "ends_turn: [send_message]", ends)
    assert stage.verify(examples=False).all_match


@pytest.mark.parametrize(
    ("kind", "name", "rule", "said"),
    [
        ("letta_v1_agent", "memory_insert", "exit_loop", "ends its turn after"),
        ("memgpt_agent", "core_memory_append", "exit_loop", "ends its turn after"),
        ("memgpt_agent", "send_message", "continue_loop", "continues its turn after"),
    ],
)
def test_a_core_tool_of_every_type_of_agent(
    make_toy: Any, kind: str, name: str, rule: str, said: str
) -> None:
    toolset = TOOLSET.replace("memgpt_v2_agent", kind)
    for key in ("expects", "ends_turn"):
        toolset = toolset.replace(f"      {key}: [send_message]\n", "")
    toy = make_toy(toolset=toolset, agent_type=kind)
    toy.apply()
    rules = [one for one in toy.agent.tool_rules if one["tool_name"] != name]
    toy.agent.tool_rules = [*rules, {"tool_name": name, "type": rule}]
    found = toy.verified(examples=False)
    assert not found.all_match
    assert f"keeper {said} `{name}`, by a rule {rule}" in "\n".join(found.differences)


def test_what_lettas_own_rules_say_is_no_warning(make_toy: Any) -> None:
    """As Letta itself made the agent, nothing is told of it."""
    toy = make_toy(toolset=TOOLSET.replace("      ends_turn: [send_message]\n", ""))
    toy.agent.tool_rules.pop()
    toy.world.delete_tool(toy.world.tool_named("their_tool").id)
    toy.apply()
    assert ("send_message", "exit_loop") in toy.rules()
    assert toy.verified(examples=False).plan.warnings == ()

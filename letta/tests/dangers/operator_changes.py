"""What an operator or another client can do to an agent, and what the agent loses by it.

Each row has the requests that change the agent or the registry, and the tools of other
owners that the agent lost, or whose rules it lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from letta.tests.deeds import (
    Deed,
    adds,
    all_of,
    attaches,
    configures,
    deletes,
    detaches,
    drops,
    sets,
)
from letta.tests.stage import THEIRS, Stage

MEMORY = ("memory_insert", "memory_replace")
SEARCHES = ("archival_memory_search", "conversation_search")


def replaces_tools(*names: str) -> Deed:
    """A client sends a complete list of tools: the others are detached."""

    def deed(stage: Stage) -> None:
        ids = [stage.registered(name)["id"] for name in names]
        stage.ask("PATCH", f"/v1/agents/{stage.agent_id}", {"tool_ids": ids})

    return deed


def replaces_tools_and_rules(*names: str) -> Deed:
    """A client sends complete lists of tools and rules, as an agent's editor does."""

    def deed(stage: Stage) -> None:
        ids = [stage.registered(name)["id"] for name in names]
        stage.patch(tool_ids=ids, tool_rules=[])

    return deed


def keeps_only_rules(*names: str) -> Deed:
    """A client sends a complete list of rules that has only those of some tools."""

    def deed(stage: Stage) -> None:
        rules = stage.agent()["tool_rules"]
        stage.patch(tool_rules=[r for r in rules if r["tool_name"] in names])

    return deed


def edits(key: str, value: str) -> Deed:
    """An operator changes a property of the agent that has nothing to do with tools."""
    return lambda stage: stage.patch(**{key: value})


OURS = ("search_notes", "delete_note", "end_day")
EVERYTHING = sorted(THEIRS - {"send_message"})
"""What an agent can lose: the toolset expects `send_message`, so that it comes back."""
RULED = ["memory_replace", "their_tool"]
"""The tools that have rules of other owners."""

LOSSES: dict[str, tuple[Deed, Sequence[str]]] = {
    # Tools that are detached one by one.
    **{f"{name} is detached": (detaches(name), [name]) for name in EVERYTHING},
    "both memory tools are detached": (detaches(*MEMORY), MEMORY),
    "both searches are detached": (detaches(*SEARCHES), SEARCHES),
    "everything of others is detached": (detaches(*EVERYTHING), EVERYTHING),
    "memory tools and one of ours are detached": (
        detaches(*MEMORY, "end_day"),
        MEMORY,
    ),
    "a core tool and an expected tool are detached": (
        detaches("memory_insert", "send_message"),
        ["memory_insert"],
    ),
    # Lists that replace others.
    "no tool is left": (replaces_tools(), EVERYTHING),
    "only ours are left": (replaces_tools(*OURS), EVERYTHING),
    "only one of ours is left": (replaces_tools("search_notes"), EVERYTHING),
    "only the answer is left": (replaces_tools("send_message"), EVERYTHING),
    "only another tool is there": (replaces_tools("web_search"), EVERYTHING),
    "only a forbidden tool is there": (replaces_tools("run_code"), EVERYTHING),
    "only memory is left": (
        replaces_tools(*MEMORY),
        ["archival_memory_search", "conversation_search", "their_tool"],
    ),
    "only the tool of others is left": (
        replaces_tools("their_tool"),
        sorted(THEIRS - {"send_message", "their_tool"}),
    ),
    "an older memory tool replaces the newer": (
        replaces_tools(
            "core_memory_append", "core_memory_replace", *SEARCHES, "their_tool"
        ),
        MEMORY,
    ),
    "one tool replaces both memory tools": (
        all_of(detaches(*MEMORY), attaches("memory")),
        MEMORY,
    ),
    "tools and rules are replaced by nothing": (replaces_tools_and_rules(), EVERYTHING),
    "tools and rules are replaced by ours": (
        replaces_tools_and_rules(*OURS),
        EVERYTHING,
    ),
    # Rules of tools that stay.
    "all rules are removed": (lambda stage: stage.patch(tool_rules=[]), RULED),
    "only our rules are left": (keeps_only_rules(*OURS), RULED),
    "only the rules of the answer are left": (
        keeps_only_rules("send_message"),
        RULED,
    ),
    "the rules of others are removed": (drops("their_tool"), ["their_tool"]),
    "the limit of a tool of others is removed": (
        drops("their_tool", kind="max_count_per_step"),
        ["their_tool"],
    ),
    "the approval of a tool of others is removed": (
        drops("their_tool", kind="requires_approval"),
        ["their_tool"],
    ),
    "the approval of a core tool is removed": (
        drops("memory_replace", kind="requires_approval"),
        ["memory_replace"],
    ),
    "a tool is detached and the rules of another removed": (
        all_of(detaches("memory_insert"), drops("their_tool")),
        ["memory_insert", "their_tool"],
    ),
    # The registry.
    "a tool of others is deleted": (deletes("their_tool"), ["their_tool"]),
    "a tool of others is deleted, and memory detached": (
        all_of(deletes("their_tool"), detaches(*MEMORY)),
        [*MEMORY, "their_tool"],
    ),
    # Together with changes that an apply repairs.
    "a forbidden tool comes and memory goes": (
        all_of(attaches("run_code"), detaches(*MEMORY)),
        MEMORY,
    ),
    "a circular tool comes and a search goes": (
        all_of(attaches("wake_agent"), detaches("conversation_search")),
        ["conversation_search"],
    ),
    "the token and memory are removed": (
        all_of(configures(custom_headers={"X-Region": "a"}), detaches("memory_insert")),
        ["memory_insert"],
    ),
    "a tag and a search are removed": (
        all_of(sets("delete_note", tags=[]), detaches("archival_memory_search")),
        ["archival_memory_search"],
    ),
    "a tool of ours is deleted and memory detached": (
        all_of(deletes("search_notes"), detaches("memory_replace")),
        ["memory_replace"],
    ),
    "Letta Code opens the agent and memory is detached": (
        all_of(
            lambda stage: stage.patch(tags=["origin:letta-code"], tool_rules=[]),
            detaches("memory_insert"),
        ),
        ["memory_insert", *RULED],
    ),
    "a tool is detached and attached, and another detached": (
        all_of(
            detaches("their_tool"), attaches("their_tool"), detaches("memory_insert")
        ),
        ["memory_insert"],
    ),
    # No loss.
    "a tool is detached and attached again": (
        all_of(detaches("their_tool"), attaches("their_tool")),
        [],
    ),
    "another tool is attached": (attaches("web_search"), []),
    "a limit of a tool of others is raised": (
        all_of(
            drops("their_tool", kind="max_count_per_step"),
            adds(
                {
                    "tool_name": "their_tool",
                    "type": "max_count_per_step",
                    "max_count_limit": 9,
                }
            ),
        ),
        [],
    ),
    "the agent has another name": (edits("name", "another"), []),
    "all of ours are detached": (detaches(*OURS), []),
}

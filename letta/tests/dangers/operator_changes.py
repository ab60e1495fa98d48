"""Operators' changes to an agent and the tools or rules that the agent loses by each.

Each row has the change, and the tools of other owners that the agent lost or whose
rules it lost.
"""

from __future__ import annotations

from collections.abc import Sequence

from letta.tests.manual_changes import (
    ManualChange,
    add_rules,
    attach_tool,
    combine_changes,
    configure_entry,
    delete_tool,
    detach_tools,
    remove_rules,
    set_tool_fields,
)
from letta.tests.stage import THEIRS, Stage

MEMORY = ("memory_insert", "memory_replace")
SEARCHES = ("archival_memory_search", "conversation_search")


def replace_tools(*names: str) -> ManualChange:
    """Return a change that replaces the agent's list of tools."""

    def change(stage: Stage) -> None:
        ids = [stage.find_tool(name)["id"] for name in names]
        stage.request("PATCH", f"/v1/agents/{stage.agent_id}", {"tool_ids": ids})

    return change


def replace_tools_and_rules(*names: str) -> ManualChange:
    """Return a change that replaces the agent's tools and removes its rules."""

    def change(stage: Stage) -> None:
        ids = [stage.find_tool(name)["id"] for name in names]
        stage.patch(tool_ids=ids, tool_rules=[])

    return change


def keep_only_rules(*names: str) -> ManualChange:
    """Return a change that removes the rules of all other tools."""

    def change(stage: Stage) -> None:
        rules = stage.agent()["tool_rules"]
        stage.patch(tool_rules=[r for r in rules if r["tool_name"] in names])

    return change


def set_agent_property(key: str, value: str) -> ManualChange:
    """Return a change of an agent's property that does not concern tools."""
    return lambda stage: stage.patch(**{key: value})


OURS = ("search_notes", "delete_note", "end_day")
EVERYTHING = sorted(THEIRS - {"send_message"})
"""The tools that an agent can lose: `send_message` is expected and attached again."""
RULED = ["memory_replace", "their_tool"]
"""The tools that have rules of other owners."""

LOSSES: dict[str, tuple[ManualChange, Sequence[str]]] = {
    # Each row detaches a tool or some tools.
    **{f"{name} is detached": (detach_tools(name), [name]) for name in EVERYTHING},
    "both memory tools are detached": (detach_tools(*MEMORY), MEMORY),
    "both searches are detached": (detach_tools(*SEARCHES), SEARCHES),
    "all tools of others are detached": (detach_tools(*EVERYTHING), EVERYTHING),
    "memory tools and one of ours are detached": (
        detach_tools(*MEMORY, "end_day"),
        MEMORY,
    ),
    "a core tool and an expected tool are detached": (
        detach_tools("memory_insert", "send_message"),
        ["memory_insert"],
    ),
    # Each row replaces a complete list.
    "no tool is left": (replace_tools(), EVERYTHING),
    "only ours are left": (replace_tools(*OURS), EVERYTHING),
    "only one of ours is left": (replace_tools("search_notes"), EVERYTHING),
    "only the expected tool is left": (replace_tools("send_message"), EVERYTHING),
    "only another built-in tool is left": (replace_tools("web_search"), EVERYTHING),
    "only a forbidden tool is left": (replace_tools("run_code"), EVERYTHING),
    "only memory is left": (
        replace_tools(*MEMORY),
        ["archival_memory_search", "conversation_search", "their_tool"],
    ),
    "only the tool of others is left": (
        replace_tools("their_tool"),
        sorted(THEIRS - {"send_message", "their_tool"}),
    ),
    "an older memory tool replaces the newer": (
        replace_tools(
            "core_memory_append", "core_memory_replace", *SEARCHES, "their_tool"
        ),
        MEMORY,
    ),
    "one tool replaces both memory tools": (
        combine_changes(detach_tools(*MEMORY), attach_tool("memory")),
        MEMORY,
    ),
    "tools and rules are replaced by nothing": (replace_tools_and_rules(), EVERYTHING),
    "tools and rules are replaced by ours": (
        replace_tools_and_rules(*OURS),
        EVERYTHING,
    ),
    # Each row removes rules of tools that stay attached.
    "all rules are removed": (lambda stage: stage.patch(tool_rules=[]), RULED),
    "only our rules are left": (keep_only_rules(*OURS), RULED),
    "only the rules of the expected tool are left": (
        keep_only_rules("send_message"),
        RULED,
    ),
    "the rules of others are removed": (remove_rules("their_tool"), ["their_tool"]),
    "the limit of a tool of others is removed": (
        remove_rules("their_tool", kind="max_count_per_step"),
        ["their_tool"],
    ),
    "the approval of a tool of others is removed": (
        remove_rules("their_tool", kind="requires_approval"),
        ["their_tool"],
    ),
    "the approval of a core tool is removed": (
        remove_rules("memory_replace", kind="requires_approval"),
        ["memory_replace"],
    ),
    "a tool is detached and the rules of another removed": (
        combine_changes(detach_tools("memory_insert"), remove_rules("their_tool")),
        ["memory_insert", "their_tool"],
    ),
    # Each row deletes tools of the registry.
    "a tool of others is deleted": (delete_tool("their_tool"), ["their_tool"]),
    "a tool of others is deleted, and memory detached": (
        combine_changes(delete_tool("their_tool"), detach_tools(*MEMORY)),
        [*MEMORY, "their_tool"],
    ),
    # Each row also has a change that the next apply repairs.
    "a forbidden tool is attached and memory detached": (
        combine_changes(attach_tool("run_code"), detach_tools(*MEMORY)),
        MEMORY,
    ),
    "a circular tool is attached and a search detached": (
        combine_changes(attach_tool("wake_agent"), detach_tools("conversation_search")),
        ["conversation_search"],
    ),
    "the token and memory are removed": (
        combine_changes(
            configure_entry(custom_headers={"X-Region": "a"}),
            detach_tools("memory_insert"),
        ),
        ["memory_insert"],
    ),
    "a tag and a search are removed": (
        combine_changes(
            set_tool_fields("delete_note", tags=[]),
            detach_tools("archival_memory_search"),
        ),
        ["archival_memory_search"],
    ),
    "a tool of ours is deleted and memory detached": (
        combine_changes(delete_tool("search_notes"), detach_tools("memory_replace")),
        ["memory_replace"],
    ),
    "Letta Code opens the agent and memory is detached": (
        combine_changes(
            lambda stage: stage.patch(tags=["origin:letta-code"], tool_rules=[]),
            detach_tools("memory_insert"),
        ),
        ["memory_insert", *RULED],
    ),
    "a tool is detached and attached, and another detached": (
        combine_changes(
            detach_tools("their_tool"),
            attach_tool("their_tool"),
            detach_tools("memory_insert"),
        ),
        ["memory_insert"],
    ),
    # These changes lose no tool and no rule.
    "a tool is detached and attached again": (
        combine_changes(detach_tools("their_tool"), attach_tool("their_tool")),
        [],
    ),
    "another tool is attached": (attach_tool("web_search"), []),
    "a limit of a tool of others is raised": (
        combine_changes(
            remove_rules("their_tool", kind="max_count_per_step"),
            add_rules(
                {
                    "tool_name": "their_tool",
                    "type": "max_count_per_step",
                    "max_count_limit": 9,
                }
            ),
        ),
        [],
    ),
    "the agent is renamed": (set_agent_property("name", "another"), []),
    "all of ours are detached": (detach_tools(*OURS), []),
}

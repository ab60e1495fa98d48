"""Manual changes to the toy platform, with the texts that verify reports for them."""

from __future__ import annotations

from letta.tests.manual_changes import (
    ManualChange,
    add_rules,
    attach_tool,
    attach_waiting_tool,
    capture_tool,
    change_offered_tools,
    combine_changes,
    configure_entry,
    delete_tool,
    detach_tools,
    remove_rules,
    replace_loop_rule,
    replace_schema_text,
    set_tool_fields,
    stop_mcp_server,
)
from letta.tests.toy import TOKEN

SEARCH = {"tool_name": "search_notes"}
THEIR = {"tool_name": "their_tool"}
INSERT = {"tool_name": "memory_insert"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
OPENS = {"children": ["search_notes"]}
"""The tools that a rule permits or requires next."""


REPAIRED: dict[str, tuple[ManualChange, str]] = {
    "a reading tool is detached": (
        detach_tools("search_notes"),
        "+ tool search_notes of keeper (attached)",
    ),
    "a changing tool is detached": (detach_tools("delete_note"), "+ tool delete_note"),
    "a tool that ends the turn is detached": (
        detach_tools("end_day"),
        "+ tool end_day",
    ),
    "an expected tool is detached": (
        detach_tools("send_message"),
        "+ tool send_message",
    ),
    "all of ours are detached": (
        detach_tools("search_notes", "delete_note", "end_day"),
        "keeper has 0 of 3 canonical tools: none",
    ),
    "a forbidden tool is attached": (attach_tool("run_code"), "- tool run_code"),
    "a tool that calls the loop is attached": (
        attach_tool("wake_agent"),
        "- tool wake_agent of keeper (detached: It calls the agent's own loop.)",
    ),
    "a tool that is not for agents is attached": (
        attach_tool("list_plain"),
        "- tool list_plain",
    ),
    "all rules are removed": (
        lambda stage: stage.patch(tool_rules=[]),
        "+ rule memory_insert continue_loop",
    ),
    "the continue rule of a tool is removed": (
        remove_rules("search_notes"),
        "+ rule search_notes continue_loop",
    ),
    "the exit rule of a tool is removed": (
        remove_rules("end_day"),
        "+ rule end_day exit_loop",
    ),
    "the approval rule is removed": (
        remove_rules("delete_note", kind="requires_approval"),
        "+ rule delete_note requires_approval",
    ),
    "a continue rule becomes an exit rule": (
        replace_loop_rule("search_notes", "exit_loop"),
        "- rule search_notes exit_loop",
    ),
    "an exit rule becomes a continue rule": (
        replace_loop_rule("end_day", "continue_loop"),
        "- rule end_day continue_loop",
    ),
    "a tool has a continue and an exit rule": (
        add_rules({**SEARCH, "type": "exit_loop"}),
        "- rule search_notes exit_loop",
    ),
    "the exit rule of an expected tool is removed": (
        remove_rules("send_message"),
        "+ rule send_message exit_loop",
    ),
    "an expected tool has a continue rule": (
        replace_loop_rule("send_message", "continue_loop"),
        "- rule send_message continue_loop",
    ),
    "the continue rule of a built-in tool is removed": (
        remove_rules("memory_insert"),
        "+ rule memory_insert continue_loop",
    ),
    "a description is changed": (
        replace_schema_text("search_notes", "Search the notes.", "Search nothing."),
        "~ registry search_notes (new description or parameters, same id)",
    ),
    "a parameter's description is changed": (
        replace_schema_text("search_notes", "What to look for.", "Your password."),
        "~ registry search_notes",
    ),
    "a parameter is removed": (
        replace_schema_text("delete_note", '"number"', '"other"'),
        "~ registry delete_note",
    ),
    "the tags of a reading tool are removed": (
        set_tool_fields("search_notes", tags=[]),
        "~ registry search_notes (wrong tag: Letta does not know its server",
    ),
    "the tags of a changing tool are removed": (
        set_tool_fields("delete_note", tags=[]),
        "~ registry delete_note (wrong tag: Letta does not know its server",
    ),
    "a tag names another server": (
        set_tool_fields("end_day", tags=["mcp:other", "mcp:toy"]),
        "~ registry end_day (wrong tag: Letta calls it on the server `other`)",
    ),
    "a tool is deleted": (delete_tool("search_notes"), "+ registry search_notes"),
    "an expected built-in tool is deleted": (
        delete_tool("send_message"),
        "+ tool send_message",
    ),
    "the server's URL is changed": (
        configure_entry(server_url="http://127.0.0.1:9/mcp"),
        "~ server toy (url http://127.0.0.1:9/mcp -> ",
    ),
    "the token is changed": (
        configure_entry(custom_headers={"Authorization": "Bearer other"}),
        "~ server toy (bearer token (not shown))",
    ),
    "the entry names an agent": (
        configure_entry(custom_headers={**BEARER, "X-Agent-Id": "agent-1"}),
        "~ server toy (the fixed header X-Agent-Id is removed",
    ),
    "the entry names an agent in lower case": (
        configure_entry(
            custom_headers={**BEARER, "x-agent-id": "", "X-Region": "north"}
        ),
        "~ server toy (the fixed header X-Agent-Id is removed",
    ),
    "the token is removed": (
        configure_entry(custom_headers={"X-Region": "north"}),
        "~ server toy (bearer token (not shown))",
    ),
    "several changes at once": (
        combine_changes(
            detach_tools("end_day"),
            remove_rules("search_notes"),
            set_tool_fields("delete_note", tags=[]),
        ),
        "~ registry delete_note",
    ),
}
"""Differences that applying repairs, with a line of the report."""

NOT_REPAIRED: dict[str, tuple[ManualChange, str]] = {
    "a tool of others is detached": (
        detach_tools("their_tool"),
        "`their_tool` was detached from keeper since the baseline",
    ),
    "a run_first rule names a missing tool": (
        add_rules({"tool_name": "gone", "type": "run_first"}),
        "`send_message`, because of the rule `gone run_first`; remove the rule in Letta",
    ),
    "a rule limits a tool to 0 calls": (
        add_rules({**SEARCH, "type": "max_count_per_step", "max_count_limit": 0}),
        "can never call `search_notes`, because of the rule `search_notes max_count",
    ),
    "the tool that ends the turn must run first": (
        add_rules({"tool_name": "send_message", "type": "run_first"}),
        "can never call `conversation_search`, `delete_note`, `end_day`",
    ),
    "a core tool is detached": (
        detach_tools("memory_insert"),
        "`memory_insert` was detached from keeper",
    ),
    "another core tool is detached": (
        detach_tools("memory_replace"),
        "`memory_replace` was detached from keeper",
    ),
    "the conversation search is detached": (
        detach_tools("conversation_search"),
        "which a memgpt_v2_agent needs to search earlier messages",
    ),
    "a built-in tool that is not expected is detached": (
        detach_tools("archival_memory_search"),
        "`archival_memory_search` was detached from keeper",
    ),
    "a core tool ends the turn": (
        replace_loop_rule("memory_insert", "exit_loop"),
        "keeper ends its turn after `memory_insert`, by a rule exit_loop",
    ),
    "a core tool has a continue and an exit rule": (
        add_rules({**INSERT, "type": "exit_loop"}),
        "keeper ends its turn after `memory_insert`, by a rule exit_loop",
    ),
    "another server captured a core tool": (
        capture_tool("memory_insert"),
        (
            "`memory_insert` of keeper is not Letta's built-in tool: the MCP "
            "server `other`"
        ),
    ),
    "another server captured an expected tool": (
        capture_tool("send_message"),
        (
            "`send_message` of keeper is not Letta's built-in tool: the MCP "
            "server `other`"
        ),
    ),
}
"""Differences that applying keeps: they can be intended, and the report names the fix."""

WARNED: dict[str, tuple[ManualChange, str]] = {
    "a tool must run first": (
        add_rules({**SEARCH, "type": "run_first", "args": {"query": "x"}}),
        "`search_notes run_first (args={'query': 'x'})`",
    ),
    "a tool has a call limit": (
        add_rules({**SEARCH, "type": "max_count_per_step", "max_count_limit": 1}),
        "`search_notes max_count_per_step (max_count_limit=1)`",
    ),
    "a tool requires approval": (
        add_rules({**SEARCH, "type": "requires_approval"}),
        "`search_notes requires_approval`",
    ),
    "a tool is required before the exit": (
        add_rules({**SEARCH, "type": "required_before_exit"}),
        "`search_notes required_before_exit`",
    ),
    "a tool constrains its successors": (
        add_rules({**SEARCH, "type": "constrain_child_tools", "children": ["end_day"]}),
        "`search_notes constrain_child_tools (children=['end_day'])`",
    ),
    "a tool must precede others": (
        add_rules({**SEARCH, "type": "parent_last_tool", "children": ["end_day"]}),
        "`search_notes parent_last_tool (children=['end_day'])`",
    ),
    "a tool's result selects the next tool": (
        add_rules(
            {**SEARCH, "type": "conditional", "child_output_mapping": {"x": "end_day"}}
        ),
        "`search_notes conditional (",
    ),
    "a tool of others constrains its successors to ours": (
        add_rules({**THEIR, **OPENS, "type": "constrain_child_tools"}),
        "`their_tool constrain_child_tools (children=['search_notes'])`",
    ),
    "a tool of others must precede ours": (
        add_rules({**THEIR, **OPENS, "type": "parent_last_tool"}),
        "`their_tool parent_last_tool (children=['search_notes'])`",
    ),
    "a built-in tool requires approval": (
        add_rules({**INSERT, "type": "requires_approval"}),
        "`memory_insert requires_approval`",
    ),
    "a built-in tool must run first": (
        add_rules({"tool_name": "conversation_search", "type": "run_first"}),
        "`conversation_search run_first`",
    ),
    "another built-in tool ends the turn": (
        replace_loop_rule("archival_memory_search", "exit_loop"),
        "`archival_memory_search exit_loop`",
    ),
    "a rule without effect names a missing tool": (
        add_rules({"tool_name": "gone", "type": "continue_loop"}),
        "rules of tools that are not attached, which have no effect: `gone continue_loop`",
    ),
    "a tool of Letta that waits for agents is attached": (
        attach_waiting_tool("send_message_to_agent_and_wait_for_reply"),
        "waits for another agent's turn: a message to itself blocks its own turn",
    ),
    "a rule refers to a missing tool": (
        add_rules({**THEIR, "type": "constrain_child_tools", "children": ["gone"]}),
        "refers to a tool that is not attached",
    ),
    "a tool's result is truncated": (
        set_tool_fields("search_notes", return_char_limit=10),
        "`search_notes` return_char_limit 10",
    ),
    "a built-in tool's result is truncated": (
        set_tool_fields("conversation_search", return_char_limit=10),
        "`conversation_search` return_char_limit 10",
    ),
    "calls run in parallel": (
        set_tool_fields("delete_note", enable_parallel_execution=True),
        "`delete_note` enable_parallel_execution",
    ),
    "Letta Code has opened the agent": (
        lambda stage: stage.patch(tags=["origin:letta-code"]),
        "Letta Code opens keeper",
    ),
}
"""Changes that verify accepts with a warning: specs do not declare these settings."""

REFUSED: dict[str, tuple[ManualChange, str]] = {
    "another server captured a tool of ours": (
        capture_tool("search_notes"),
        "`search_notes` belongs to the MCP server `other`",
    ),
    "the server is down": (stop_mcp_server, "Letta cannot list the MCP server's tools"),
    "the server offers no tools": (
        lambda stage: setattr(stage.mcp, "tools", []),
        "offers no tools",
    ),
    "the server does not offer a tool": (
        change_offered_tools(end_day=None),
        "the MCP server does not offer `end_day`",
    ),
    "the server offers another description": (
        change_offered_tools(end_day={"description": "Begin the day."}),
        "description or schema of `end_day` differs from the spec",
    ),
    "the server offers another schema": (
        change_offered_tools(
            end_day={"inputSchema": {"type": "object", "required": ["x"]}}
        ),
        "description or schema of `end_day` differs from the spec",
    ),
    "a tool has no known owner": (
        set_tool_fields("search_notes", metadata_={}),
        "`search_notes` belongs to a external_mcp tool",
    ),
}
"""Changes that block an apply, because it would cause a loss."""

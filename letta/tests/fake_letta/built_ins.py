"""The built-in tools of a Letta server."""

from __future__ import annotations

__all__ = ["BUILT_INS", "DEFAULT_TOOLS"]

BUILT_INS = {
    "letta_core": (
        "send_message",
        "conversation_search",
        "archival_memory_insert",
        "archival_memory_search",
    ),
    "letta_memory_core": (
        "core_memory_append",
        "core_memory_replace",
        "memory",
        "memory_apply_patch",
    ),
    "letta_sleeptime_core": (
        "memory_replace",
        "memory_insert",
        "memory_rethink",
        "memory_finish_edits",
    ),
    "letta_voice_sleeptime_core": (
        "store_memories",
        "rethink_user_memory",
        "finish_rethinking_memory",
        "search_memory",
    ),
    "letta_builtin": ("run_code", "run_code_with_tools", "web_search", "fetch_webpage"),
    "letta_files_core": ("open_files", "grep_files", "semantic_search_files"),
    "letta_multi_agent_core": (
        "send_message_to_agent_and_wait_for_reply",
        "send_message_to_agents_matching_tags",
        "send_message_to_agent_async",
    ),
}
"""The 26 tools of every organization, by type."""

DEFAULT_TOOLS = {
    "letta_v1_agent": ("conversation_search", "memory_insert", "memory_replace"),
    "memgpt_v2_agent": (
        "conversation_search",
        "memory_insert",
        "memory_replace",
        "send_message",
    ),
    "memgpt_agent": (
        "conversation_search",
        "core_memory_append",
        "core_memory_replace",
        "memory",
        "memory_apply_patch",
        "send_message",
    ),
    "react_agent": (),
}
"""The tools that a new agent of each type has."""

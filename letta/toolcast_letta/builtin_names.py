"""Names that a Letta server has tools of its own for. Source: its registry, 0.16.6."""

from __future__ import annotations

__all__ = ["LETTA_BUILT_INS"]

LETTA_BUILT_INS = frozenset(
    (
        "send_message conversation_search archival_memory_insert "
        "archival_memory_search core_memory_append core_memory_replace memory "
        "memory_apply_patch memory_replace memory_insert memory_rethink "
        "memory_finish_edits store_memories rethink_user_memory "
        "finish_rethinking_memory search_memory run_code run_code_with_tools "
        "web_search fetch_webpage open_files grep_files semantic_search_files "
        "send_message_to_agent_and_wait_for_reply "
        "send_message_to_agents_matching_tags send_message_to_agent_async"
    ).split()
)
"""A tool of another owner with one of these names takes the built-in's place for every agent
of the organization; when it is removed, the built-in is gone."""

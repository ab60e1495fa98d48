"""Names that a Letta server has tools of its own for. Source: its registry, 0.16.6."""

from __future__ import annotations

LETTA_BUILT_INS = frozenset("""
    archival_memory_insert archival_memory_search conversation_search
    core_memory_append core_memory_replace fetch_webpage
    finish_rethinking_memory grep_files memory memory_apply_patch
    memory_finish_edits memory_insert memory_replace memory_rethink open_files
    rethink_user_memory run_code run_code_with_tools search_memory
    semantic_search_files send_message send_message_to_agent_and_wait_for_reply
    send_message_to_agent_async send_message_to_agents_matching_tags
    store_memories web_search
    """.split())
"""A tool of another owner with one of these names takes the built-in's place for every agent
of the organization; when it is removed, the built-in is gone."""

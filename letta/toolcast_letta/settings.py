"""A toolset's settings for Letta: the entry of its MCP server, and its agents.

Specs declare them under `letta`, and generated modules repeat them for the MCP server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

BUILT_INS = frozenset("""
    archival_memory_insert archival_memory_search conversation_search
    core_memory_append core_memory_replace fetch_webpage
    finish_rethinking_memory grep_files memory memory_apply_patch
    memory_finish_edits memory_insert memory_replace memory_rethink open_files
    rethink_user_memory run_code run_code_with_tools search_memory
    semantic_search_files send_message send_message_to_agent_and_wait_for_reply
    send_message_to_agent_async send_message_to_agents_matching_tags
    store_memories web_search
    """.split())
"""The names of Letta's built-in tools.

A tool of another owner with one of these names replaces the built-in tool for every
agent of the organization; when that tool is removed, the built-in tool is missing.
Source: the registry of Letta's server 0.16.6.
"""


class LettaServer(NamedTuple):
    """The MCP server's entry in Letta, as a toolset declares it.

    Either `url` or `url_env` is set. `client` names the client profile whose tools the
    MCP server offers to Letta.
    """

    name: str
    url: str | None = None
    url_env: str | None = None
    token_env: str | None = None
    client: str | None = None


class LettaBlock(NamedTuple):
    """A memory block, and whether Toolcast writes `tools` or `data` into its part."""

    label: str
    content: str


@dataclass(frozen=True)
class LettaAgent:
    """The settings of one agent.

    Attributes:
        name: the agent's name in the toolset.
        id: the agent's id in Letta; None if `id_env` is set.
        id_env: the environment variable that contains the id.
        type: the agent's type in Letta; it determines which rules tools need.
        expects: tools of other owners that the agent must have.
        ends_turn: the tools of `expects` that end the agent's turn.
        forbids: tools that the agent must not have, with the reasons.
        blocks: the agent's memory blocks that Toolcast writes a part of.
    """

    name: str
    id: str | None = None
    id_env: str | None = None
    type: str = "letta_v1_agent"
    expects: tuple[str, ...] = ()
    ends_turn: tuple[str, ...] = ()
    forbids: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[LettaBlock, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LettaSettings:
    """The `letta` object of a toolset.

    Attributes:
        name: the toolset's name.
        server: the entry of its MCP server.
        agents: its agents.
        backend: the kind of Letta: `v1` or `code`.
        on_start: whether the MCP server attaches missing tools when it starts.
        on_start_timeout_s: the number of seconds for which a starting server retries
            while Letta is unreachable.
    """

    name: str
    server: LettaServer
    agents: tuple[LettaAgent, ...] = ()
    backend: str = "v1"
    on_start: bool = False
    on_start_timeout_s: float = 120.0


def parse_url(url: str) -> SplitResult:
    """Parse a URL; return empty parts if it is invalid."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")

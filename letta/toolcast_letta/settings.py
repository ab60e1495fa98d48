"""What a toolset says of Letta: the entry of its MCP server, and its agents.

The specs say it under `letta`, and a generated module says it again for its server.
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
"""Letta's own tools. Source: the registry of its server, 0.16.6.

A tool of another owner with one of these names takes the built-in's place for every agent of the
organization; when it is removed, the built-in is gone.
"""


class LettaServer(NamedTuple):
    """The MCP server's entry in Letta.

    Of `url` and `url_env` one is set. `client` is whom the server takes Letta for.
    """

    name: str
    url: str | None = None
    url_env: str | None = None
    token_env: str | None = None
    client: str | None = None


class LettaBlock(NamedTuple):
    """A memory block of an agent, and what the specs say in it: `tools` or `data`."""

    label: str
    content: str


@dataclass(frozen=True)
class LettaAgent:
    """One agent.

    Attributes:
        name: the name that the toolset has for it.
        id: Letta's id; or `id_env`, the variable that holds it.
        type: Letta's type, which decides on the rules that tools need.
        expects: tools of others that it must have.
        ends_turn: those of `expects` that end its turn.
        forbids: tools that it must not have, with the reason.
        blocks: its memory blocks that the specs have a part in.
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
    """The `letta` of a toolset.

    Attributes:
        name: the toolset's name.
        server: the entry of its MCP server.
        agents: its agents.
        backend: the kind of Letta, `v1` or `code`.
        on_start: whether the server attaches what is missing when it starts.
        on_start_patience: for how many seconds it goes on trying while Letta is away.
    """

    name: str
    server: LettaServer
    agents: tuple[LettaAgent, ...] = ()
    backend: str = "v1"
    on_start: bool = False
    on_start_patience: float = 120.0


def parse_url(url: str) -> SplitResult:
    """The parts of a URL; empty ones where it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", "", "", "")

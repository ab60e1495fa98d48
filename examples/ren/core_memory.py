"""Ren's core memory and archival memory, over Letta's management API.

These functions send no messages, so they do not run the agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolcast_runtime import ToolError

from .letta_server import Agent, connect_to_ren

__all__ = [
    "Block",
    "delete_passage",
    "find_passage",
    "list_blocks",
    "read_block",
    "write_block",
]

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the core memory."""

    label: str
    value: str
    description: str | None
    limit: int | None


def list_blocks() -> list[Block]:
    """Return all blocks, sorted by label.

    Raises:
        ToolError: see `connect_to_ren`.
    """
    with connect_to_ren() as agent:
        blocks = {block.label: block for block in _iterate_blocks(agent)}
    return [blocks[label] for label in sorted(blocks)]


def _iterate_blocks(agent: Agent) -> Iterator[Block]:
    from letta_client import omit

    seen: set[str] = set()
    after: str | None = None
    while True:
        page = agent.client.agents.blocks.list(
            agent.id, limit=PAGE_SIZE, after=after or omit
        ).items
        new_blocks = [block for block in page if block.id and block.id not in seen]
        for block in new_blocks:
            seen.add(block.id or "")
            yield Block(block.label or "", block.value, block.description, block.limit)
        if not new_blocks or len(page) < PAGE_SIZE:
            return
        after = new_blocks[-1].id


def read_block(label: str) -> Block:
    """Return the block with this label.

    Raises:
        ToolError: there is no such block; see also `connect_to_ren`.
    """
    for block in list_blocks():
        if block.label == label:
            return block
    raise ToolError(f"There is no core-memory block `{label}`.")


def write_block(block: Block, value: str) -> None:
    """Replace a block's text.

    Raises:
        ToolError: the text exceeds the block's limit; see also `connect_to_ren`.
    """
    if block.limit is not None and len(value) > block.limit:
        raise ToolError(
            f"The block `{block.label}` accepts {block.limit} characters, not "
            f"{len(value)}."
        )
    with connect_to_ren() as agent:
        agent.client.agents.blocks.update(block.label, agent_id=agent.id, value=value)


def find_passage(passage_id: str) -> str:
    """Return the text of a passage of the archival memory.

    Letta cannot get a passage by id, so this function searches all pages.

    Raises:
        ToolError: there is no such passage; see also `connect_to_ren`.
    """
    with connect_to_ren() as agent:
        from letta_client import omit

        after: str | None = None
        seen: set[str] = set()
        while True:
            page = agent.client.agents.passages.list(
                agent.id, limit=PAGE_SIZE, after=after or omit
            )
            for passage in page:
                if passage.id == passage_id:
                    return passage.text
            new_ids = [p.id for p in page if p.id and p.id not in seen]
            if not new_ids or len(page) < PAGE_SIZE:
                break
            seen.update(new_ids)
            after = new_ids[-1]
    raise ToolError(f"There is no archival passage `{passage_id}`.")


def delete_passage(passage_id: str) -> None:
    """Delete a passage permanently.

    Raises:
        ToolError: see `connect_to_ren`.
    """
    with connect_to_ren() as agent:
        agent.client.agents.passages.delete(passage_id, agent_id=agent.id)

"""Ren's core memory and archival memory, by Letta's management API.

Nothing here sends a message: the agent's loop does not notice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from toolcast_runtime import ToolError

from .letta_server import Agent, ren

__all__ = [
    "Block",
    "delete_passage",
    "find_passage",
    "list_blocks",
    "read_block",
    "write_block",
]

PAGE = 200


@dataclass(frozen=True, slots=True)
class Block:
    """One block of the core memory."""

    label: str
    value: str
    description: str | None
    limit: int | None


def list_blocks() -> list[Block]:
    """Every block, sorted by label.

    Raises:
        ToolError: as `ren`.
    """
    with ren() as agent:
        found = {block.label: block for block in _blocks(agent)}
    return [found[label] for label in sorted(found)]


def _blocks(agent: Agent) -> Iterator[Block]:
    from letta_client import omit

    seen: set[str] = set()
    after: str | None = None
    while True:
        page = agent.client.agents.blocks.list(
            agent.id, limit=PAGE, after=after or omit
        ).items
        fresh = [block for block in page if block.id and block.id not in seen]
        for block in fresh:
            seen.add(block.id or "")
            yield Block(block.label or "", block.value, block.description, block.limit)
        if not fresh or len(page) < PAGE:
            return
        after = fresh[-1].id


def read_block(label: str) -> Block:
    """The block of a label.

    Raises:
        ToolError: there is none; or as `ren`.
    """
    for block in list_blocks():
        if block.label == label:
            return block
    raise ToolError(f"There is no core-memory block `{label}`.")


def write_block(block: Block, value: str) -> None:
    """Replaces a block's text.

    Raises:
        ToolError: the text is longer than the block's limit; or as `ren`.
    """
    if block.limit is not None and len(value) > block.limit:
        raise ToolError(
            f"The block `{block.label}` takes {block.limit} characters, not {len(value)}."
        )
    with ren() as agent:
        agent.client.agents.blocks.update(block.label, agent_id=agent.id, value=value)


def find_passage(passage_id: str) -> str:
    """The text of a passage of the archival memory.

    Letta has no look-up by id, so pages are walked through.

    Raises:
        ToolError: there is none; or as `ren`.
    """
    with ren() as agent:
        from letta_client import omit

        after: str | None = None
        seen: set[str] = set()
        while True:
            page = agent.client.agents.passages.list(
                agent.id, limit=PAGE, after=after or omit
            )
            for passage in page:
                if passage.id == passage_id:
                    return passage.text
            fresh = [p.id for p in page if p.id and p.id not in seen]
            if not fresh or len(page) < PAGE:
                break
            seen.update(fresh)
            after = fresh[-1]
    raise ToolError(f"There is no archival passage `{passage_id}`.")


def delete_passage(passage_id: str) -> None:
    """Deletes a passage for good.

    Raises:
        ToolError: as `ren`.
    """
    with ren() as agent:
        agent.client.agents.passages.delete(passage_id, agent_id=agent.id)

"""Routes for memory blocks and archival passages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RequestRefusedError
from .routing import Routes, get_agent

if TYPE_CHECKING:
    from ..serving import Request

__all__ = ["ROUTES"]

ROUTES = Routes()


def _get_block(request: Request, agent_id: str, label: str) -> dict[str, Any]:
    agent = get_agent(request, agent_id)
    if label not in agent.blocks:
        raise RequestRefusedError(
            404, f"No block with label '{label}' found for agent '{agent_id}'"
        )
    return agent.blocks[label]


@ROUTES.add("GET", "/v1/agents/([^/]+)/core-memory/blocks")
def list_blocks(request: Request, agent_id: str) -> Any:
    """Return all blocks of the agent."""
    return list(get_agent(request, agent_id).blocks.values())


@ROUTES.add("GET", "/v1/agents/([^/]+)/core-memory/blocks/([^/]+)")
def read_block(request: Request, agent_id: str, label: str) -> Any:
    """Return a block."""
    return _get_block(request, agent_id, label)


@ROUTES.add("PATCH", "/v1/agents/([^/]+)/core-memory/blocks/([^/]+)")
def write_block(request: Request, agent_id: str, label: str) -> Any:
    """Update the passed fields of a block."""
    block = _get_block(request, agent_id, label)
    value = request.body.get("value")
    limit = request.body.get("limit") or block["limit"]
    if value is not None and len(value) > limit:
        raise RequestRefusedError(
            400,
            f"Edit failed: Exceeds {limit} character limit (requested {len(value)})",
        )
    changed = {k: v for k, v in request.body.items() if k in block and v is not None}
    block.update(changed)
    return block


@ROUTES.add("GET", "/v1/agents/([^/]+)/archival-memory")
def list_passages(request: Request, agent_id: str) -> Any:
    """Return all passages, the newest last."""
    return list(get_agent(request, agent_id).passages.values())


@ROUTES.add("POST", "/v1/agents/([^/]+)/archival-memory")
def create_passage(request: Request, agent_id: str) -> Any:
    """Add a passage and return it in a list."""
    agent = get_agent(request, agent_id)
    passage = {
        "id": request.world.new_id("passage"),
        "text": request.body["text"],
        "tags": request.body.get("tags") or [],
        "metadata": {},
    }
    agent.passages[passage["id"]] = passage
    return [passage]


@ROUTES.add("DELETE", "/v1/agents/([^/]+)/archival-memory/([^/]+)")
def delete_passage(request: Request, agent_id: str, passage_id: str) -> Any:
    """Delete a passage; 404 if it does not exist."""
    agent = get_agent(request, agent_id)
    if agent.passages.pop(passage_id, None) is None:
        raise RequestRefusedError(404, f"Passage with id {passage_id} not found.")
    return {"message": f"Memory id={passage_id} successfully deleted"}

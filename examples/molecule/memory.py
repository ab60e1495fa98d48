"""Handlers of the hierarchical memory: commit_memory and recall_memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from examples.molecule import memories
from examples.molecule.memories import Scope
from examples.molecule.registry import acting_workspace
from toolcast_runtime import ToolError

__all__ = ["commit_memory", "recall_memory"]

MAX_RESULTS = 20
SCOPES: dict[str, Scope] = {"LOCAL": "LOCAL", "TEAM": "TEAM", "GLOBAL": "GLOBAL"}


def commit_memory(
    *, content: str, scope: str = "LOCAL", source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Remembers a fact for the scope, and gives it with its new id."""
    if not content.strip():
        raise ToolError("There is nothing to remember: content is blank.")
    source = acting_workspace(source_workspace_id)
    return asdict(memories.add(source, content, SCOPES[scope]))


def recall_memory(
    *,
    query: str | None = None,
    scope: str | None = None,
    source_workspace_id: str | None = None,
) -> dict[str, Any]:
    """Gives the facts in sight that match, best first; without a query the latest."""
    source = acting_workspace(source_workspace_id)
    wanted = SCOPES[scope] if scope else None
    found = memories.search(source, query or "", wanted, limit=MAX_RESULTS)
    return {"memories": [asdict(memory) for memory in found]}

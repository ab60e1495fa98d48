"""Handlers of commit_memory and recall_memory."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from examples.molecule import memories
from examples.molecule.memories import Scope
from examples.molecule.registry import get_acting_workspace
from toolcast_runtime import ToolError

__all__ = ["commit_memory", "recall_memory"]

MAX_RESULTS = 20
SCOPES: dict[str, Scope] = {"LOCAL": "LOCAL", "TEAM": "TEAM", "GLOBAL": "GLOBAL"}


def commit_memory(
    *, content: str, scope: str = "LOCAL", source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Store a fact for the scope and return it with its id."""
    if not content.strip():
        raise ToolError("The content is blank.")
    source = get_acting_workspace(source_workspace_id)
    return asdict(memories.add(source, content, SCOPES[scope]))


def recall_memory(
    *,
    query: str | None = None,
    scope: str | None = None,
    source_workspace_id: str | None = None,
) -> dict[str, Any]:
    """Return the matching facts, best first; without a query, the latest facts."""
    source = get_acting_workspace(source_workspace_id)
    scope_filter = SCOPES[scope] if scope else None
    facts = memories.search(source, query or "", scope_filter, limit=MAX_RESULTS)
    return {"memories": [asdict(fact) for fact in facts]}

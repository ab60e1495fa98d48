"""Hierarchical memory: facts with a scope, and the full-text search over them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from examples.molecule import store
from examples.molecule.registry import Workspace

__all__ = ["Memory", "Scope", "add", "search"]

Scope = Literal["LOCAL", "TEAM", "GLOBAL"]

# A workspace sees its own facts, those of its team and of the team that it leads, and
# those of its organisation.
VISIBLE = """
    organisation = :organisation
    AND (:scope IS NULL OR scope = :scope)
    AND (scope = 'GLOBAL'
         OR (scope = 'TEAM' AND team IN (:team, :workspace_id))
         OR (scope = 'LOCAL' AND workspace_id = :workspace_id))
"""
LATEST = f"SELECT * FROM memories WHERE {VISIBLE} ORDER BY seq DESC LIMIT :limit"
MATCHING = f"""
    SELECT memories.* FROM memories_index
    JOIN memories ON memories.seq = memories_index.rowid
    WHERE memories_index MATCH :query AND {VISIBLE}
    ORDER BY memories_index.rank, memories.seq DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Memory:
    """One remembered fact."""

    memory_id: str
    content: str
    scope: str
    workspace_id: str
    created_at: str


def add(workspace: Workspace, content: str, scope: Scope) -> Memory:
    """Remembers `content` for everyone whom `scope` includes."""
    memory = Memory(store.new_id("mem"), content, scope, workspace.id, store.now())
    with store.writing() as db:
        db.execute(
            "INSERT INTO memories"
            " (id, organisation, workspace_id, scope, team, content, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                memory.memory_id,
                workspace.organisation,
                workspace.id,
                scope,
                workspace.team,
                content,
                memory.created_at,
            ),
        )
    return memory


def search(
    workspace: Workspace, query: str, scope: Scope | None, *, limit: int
) -> list[Memory]:
    """The facts that the workspace can see and that match, best first.

    A fact matches when it has any of the query's words, in any inflection. An empty
    query gives the latest facts; scope None means every scope.
    """
    words = [_quoted(word) for word in query.replace("\0", " ").split()]
    with store.reading() as db:
        rows = db.execute(
            MATCHING if words else LATEST,
            {
                "query": " OR ".join(words),
                "organisation": workspace.organisation,
                "workspace_id": workspace.id,
                "team": workspace.team,
                "scope": scope,
                "limit": limit,
            },
        ).fetchall()
    return [_memory(row) for row in rows]


def _quoted(word: str) -> str:
    """The word as an FTS5 string, so that nothing in it is query syntax."""
    return '"' + word.replace('"', '""') + '"'


def _memory(row: sqlite3.Row) -> Memory:
    return Memory(
        memory_id=row["id"],
        content=row["content"],
        scope=row["scope"],
        workspace_id=row["workspace_id"],
        created_at=row["created_at"],
    )

"""Facts with a scope, and full-text search over them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Literal

from examples.molecule import store
from examples.molecule.registry import Workspace

__all__ = ["Memory", "Scope", "add", "search"]

Scope = Literal["LOCAL", "TEAM", "GLOBAL"]

# A workspace can read its own facts, those of its team and of the team that it leads,
# and those of its organization.
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
    """A stored fact."""

    memory_id: str
    content: str
    scope: str
    workspace_id: str
    created_at: str


def add(workspace: Workspace, content: str, scope: Scope) -> Memory:
    """Store `content` for the workspaces that the scope includes."""
    memory = Memory(store.new_id("mem"), content, scope, workspace.id, store.now())
    with store.write_transaction() as db:
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
    """Return the matching facts that the workspace can read, best match first.

    A fact matches if it contains at least one of the query's words in any inflection.
    Without a query, return the latest facts. `scope` None includes all scopes.
    """
    words = [_quote(word) for word in query.replace("\0", " ").split()]
    with store.read_transaction() as db:
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
    return [_parse_row(row) for row in rows]


def _quote(word: str) -> str:
    """Return the word as an FTS5 string, in which no character is query syntax."""
    return '"' + word.replace('"', '""') + '"'


def _parse_row(row: sqlite3.Row) -> Memory:
    return Memory(
        memory_id=row["id"],
        content=row["content"],
        scope=row["scope"],
        workspace_id=row["workspace_id"],
        created_at=row["created_at"],
    )

"""The workspaces of the platform: who exists, who acts, who may talk to whom."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field

from examples.molecule import config, store
from toolcast_runtime import ToolError

__all__ = [
    "Workspace",
    "acting_workspace",
    "everyone",
    "find",
    "may_talk",
    "organisation_of",
    "peer_of",
    "peers_of",
    "set_url",
]


@dataclass(frozen=True, slots=True)
class Workspace:
    """One agent's workspace, as the registry knew it when it was asked."""

    id: str
    organisation: str
    parent_id: str | None
    name: str
    role: str
    tier: int
    can_broadcast: bool
    answers: bool
    skills: tuple[str, ...]
    delay: float
    token: str = field(repr=False)
    url: str | None

    @property
    def team(self) -> str:
        """The id of the lead of the team in which this workspace is a member.

        A team is one parent with its direct children. A workspace without a parent
        belongs to the team that it leads.
        """
        return self.parent_id or self.id


def find(workspace_id: str) -> Workspace | None:
    """The workspace of that id, of whatever organisation; None when there is none."""
    with store.reading() as db:
        row = db.execute(
            "SELECT * FROM workspaces WHERE id = ?", (workspace_id,)
        ).fetchone()
    return None if row is None else _workspace(row)


def everyone() -> list[Workspace]:
    """Every workspace of every organisation."""
    with store.reading() as db:
        rows = db.execute(
            "SELECT * FROM workspaces ORDER BY organisation, id"
        ).fetchall()
    return [_workspace(row) for row in rows]


def organisation_of(workspace: Workspace) -> list[Workspace]:
    """Every workspace of the same organisation, itself included, by id."""
    with store.reading() as db:
        rows = db.execute(
            "SELECT * FROM workspaces WHERE organisation = ? ORDER BY id",
            (workspace.organisation,),
        ).fetchall()
    return [_workspace(row) for row in rows]


def acting_workspace(source_workspace_id: str | None) -> Workspace:
    """The workspace as which a call acts.

    None means this process's own workspace. Any other must belong to the same
    organisation; an unknown one and one of another tenant are refused alike, so that
    the answer does not tell which ids exist elsewhere.
    """
    own = find(config.workspace_id())
    if own is None:
        raise ToolError(
            f"MOLECULE_WORKSPACE_ID names `{config.workspace_id()}`, "
            "which is not a registered workspace."
        )
    if source_workspace_id is None or source_workspace_id == own.id:
        return own
    return _same_organisation(own, source_workspace_id)


def peer_of(source: Workspace, peer_id: str) -> Workspace:
    """The peer with that id, once it is certain that `source` may talk to it."""
    if peer_id == source.id:
        raise ToolError(f"`{peer_id}` is the calling workspace itself, not a peer.")
    peer = _same_organisation(source, peer_id)
    if not may_talk(source, peer):
        raise ToolError(
            f"`{source.id}` may not talk to `{peer_id}`: only a parent, a child or a "
            "workspace with the same parent can be reached. list_peers shows them."
        )
    return peer


def peers_of(source: Workspace) -> list[Workspace]:
    """Every workspace that `source` may talk to, by id."""
    return [peer for peer in organisation_of(source) if may_talk(source, peer)]


def may_talk(one: Workspace, other: Workspace) -> bool:
    """The access rule: same organisation, and parent, child or sibling."""
    return (
        one.organisation == other.organisation
        and one.id != other.id
        and (
            one.parent_id == other.parent_id
            or one.parent_id == other.id
            or other.parent_id == one.id
        )
    )


def set_url(workspace_id: str, url: str | None) -> None:
    """Says where the workspace answers; None says that it is down."""
    with store.writing() as db:
        db.execute("UPDATE workspaces SET url = ? WHERE id = ?", (url, workspace_id))


def _same_organisation(own: Workspace, workspace_id: str) -> Workspace:
    other = find(workspace_id)
    if other is None or other.organisation != own.organisation:
        raise ToolError(f"`{workspace_id}` is not a workspace of this organisation.")
    return other


def _workspace(row: sqlite3.Row) -> Workspace:
    return Workspace(
        id=row["id"],
        organisation=row["organisation"],
        parent_id=row["parent_id"],
        name=row["name"],
        role=row["role"],
        tier=row["tier"],
        can_broadcast=bool(row["can_broadcast"]),
        answers=bool(row["answers"]),
        skills=tuple(json.loads(row["skills"])),
        delay=row["delay"],
        token=row["token"],
        url=row["url"],
    )

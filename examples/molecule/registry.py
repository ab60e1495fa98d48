"""The workspaces of the platform, and the rule which of them can talk to each other."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field

from examples.molecule import config, store
from toolcast_runtime import ToolError

__all__ = [
    "Workspace",
    "get_acting_workspace",
    "list_workspaces",
    "find",
    "can_talk",
    "list_organization",
    "get_peer",
    "list_reachable",
    "set_url",
]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A row of the table `workspaces`."""

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
        """The id of the workspace that leads this workspace's team.

        A team consists of a workspace and its direct children. A workspace without a
        parent belongs to the team that it leads.
        """
        return self.parent_id or self.id


def find(workspace_id: str) -> Workspace | None:
    """Return the workspace with this id in any organization, or None."""
    with store.read_transaction() as db:
        row = db.execute(
            "SELECT * FROM workspaces WHERE id = ?", (workspace_id,)
        ).fetchone()
    return None if row is None else _parse_row(row)


def list_workspaces() -> list[Workspace]:
    """Return the workspaces of all organizations."""
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM workspaces ORDER BY organisation, id"
        ).fetchall()
    return [_parse_row(row) for row in rows]


def list_organization(workspace: Workspace) -> list[Workspace]:
    """Return all workspaces of the same organization, including `workspace`, by id."""
    with store.read_transaction() as db:
        rows = db.execute(
            "SELECT * FROM workspaces WHERE organisation = ? ORDER BY id",
            (workspace.organisation,),
        ).fetchall()
    return [_parse_row(row) for row in rows]


def get_acting_workspace(source_workspace_id: str | None) -> Workspace:
    """Return the workspace that a call acts as.

    None is this process's own workspace. Any other must belong to the same
    organization.

    Raises:
        ToolError: the workspace is unknown or belongs to another organization. The
            message is the same in both cases, so that it reveals no ids of other
            tenants.
    """
    own = find(config.get_workspace_id())
    if own is None:
        raise ToolError(
            f"MOLECULE_WORKSPACE_ID is `{config.get_workspace_id()}`, "
            "which is not a registered workspace."
        )
    if source_workspace_id is None or source_workspace_id == own.id:
        return own
    return _get_in_organization(own, source_workspace_id)


def get_peer(source: Workspace, peer_id: str) -> Workspace:
    """Return the workspace with this id.

    Raises:
        ToolError: the workspace is unknown, or `source` cannot talk to it.
    """
    if peer_id == source.id:
        raise ToolError(f"`{peer_id}` is the calling workspace itself, not a peer.")
    peer = _get_in_organization(source, peer_id)
    if not can_talk(source, peer):
        raise ToolError(
            f"`{source.id}` cannot reach `{peer_id}`: peers are the parent, the children "
            "and workspaces with the same parent. Call list_peers for a list."
        )
    return peer


def list_reachable(source: Workspace) -> list[Workspace]:
    """Return every workspace that `source` can talk to, by id."""
    return [peer for peer in list_organization(source) if can_talk(source, peer)]


def can_talk(first: Workspace, other: Workspace) -> bool:
    """Return whether two workspaces are parent and child, or siblings."""
    return (
        first.organisation == other.organisation
        and first.id != other.id
        and (
            first.parent_id == other.parent_id
            or first.parent_id == other.id
            or other.parent_id == first.id
        )
    )


def set_url(workspace_id: str, url: str | None) -> None:
    """Store the address of a running workspace; None marks it as stopped."""
    with store.write_transaction() as db:
        db.execute("UPDATE workspaces SET url = ? WHERE id = ?", (url, workspace_id))


def _get_in_organization(own: Workspace, workspace_id: str) -> Workspace:
    other = find(workspace_id)
    if other is None or other.organisation != own.organisation:
        raise ToolError(f"`{workspace_id}` is not a workspace of this organization.")
    return other


def _parse_row(row: sqlite3.Row) -> Workspace:
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

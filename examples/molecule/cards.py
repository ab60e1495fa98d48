"""The A2A agent card of a workspace: what the agent says, completed by the platform."""

from __future__ import annotations

import json
from typing import Any

from examples.molecule import a2a, store
from examples.molecule.registry import Workspace
from examples.molecule.skills import SKILLS

__all__ = ["replace", "served"]


def served(workspace: Workspace) -> dict[str, Any]:
    """The card that the workspace serves.

    The agent's own card where it has set one, else one made from its registration; the
    skills of its plugins are added, and the platform alone says where and how the
    workspace is reached.
    """
    with store.reading() as db:
        row = db.execute(
            "SELECT card FROM workspaces WHERE id = ?", (workspace.id,)
        ).fetchone()
        plugins = db.execute(
            "SELECT skills FROM plugins WHERE workspace_id = ? ORDER BY name",
            (workspace.id,),
        ).fetchall()
    card: dict[str, Any] = _default(workspace) | json.loads(row["card"] or "{}")
    added = [skill for plugin in plugins for skill in json.loads(plugin["skills"])]
    return card | {
        "skills": [*card["skills"], *added],
        "protocolVersion": a2a.PROTOCOL_VERSION,
        "preferredTransport": "JSONRPC",
        "url": (workspace.url or "") + a2a.rpc_path(workspace.id),
        "securitySchemes": {"platform": {"type": "http", "scheme": "bearer"}},
        "security": [{"platform": []}],
    }


def replace(workspace: Workspace, card: dict[str, Any]) -> None:
    """Makes `card` the agent's own card; the next request to the workspace sees it."""
    with store.writing() as db:
        db.execute(
            "UPDATE workspaces SET card = ? WHERE id = ?",
            (json.dumps(card), workspace.id),
        )


def _default(workspace: Workspace) -> dict[str, Any]:
    return {
        "name": workspace.name,
        "description": workspace.role,
        "version": "1.0.0",
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {
                "id": name.replace(" ", "-"),
                "name": name,
                "description": SKILLS[name].description,
                "tags": ["built-in"],
                "examples": [f"{name}: {SKILLS[name].example}"],
            }
            for name in workspace.skills
        ],
    }

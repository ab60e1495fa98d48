"""A2A agent cards of workspaces."""

from __future__ import annotations

import json
from typing import Any

from examples.molecule import a2a, store
from examples.molecule.registry import Workspace
from examples.molecule.skills import SKILLS

__all__ = ["replace_card", "build_card"]


def build_card(workspace: Workspace) -> dict[str, Any]:
    """Return the agent card that the workspace serves.

    The card that the agent has set overrides the default card. The skills of installed
    plugins are appended. The platform always sets the URL, the transport and the
    security fields.
    """
    with store.read_transaction() as db:
        row = db.execute(
            "SELECT card FROM workspaces WHERE id = ?", (workspace.id,)
        ).fetchone()
        plugins = db.execute(
            "SELECT skills FROM plugins WHERE workspace_id = ? ORDER BY name",
            (workspace.id,),
        ).fetchall()
    card: dict[str, Any] = _build_default_card(workspace) | json.loads(
        row["card"] or "{}"
    )
    added = [skill for plugin in plugins for skill in json.loads(plugin["skills"])]
    return card | {
        "skills": [*card["skills"], *added],
        "protocolVersion": a2a.PROTOCOL_VERSION,
        "preferredTransport": "JSONRPC",
        "url": (workspace.url or "") + a2a.get_rpc_path(workspace.id),
        "securitySchemes": {"platform": {"type": "http", "scheme": "bearer"}},
        "security": [{"platform": []}],
    }


def replace_card(workspace: Workspace, card: dict[str, Any]) -> None:
    """Store `card` as the agent's own card; it takes effect on the next request."""
    with store.write_transaction() as db:
        db.execute(
            "UPDATE workspaces SET card = ? WHERE id = ?",
            (json.dumps(card), workspace.id),
        )


def _build_default_card(workspace: Workspace) -> dict[str, Any]:
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

"""The organisations that a new platform begins with."""

from __future__ import annotations

import json
import secrets
from typing import Any

__all__ = ["workspace_rows"]

ALL_SKILLS = ["echo", "uppercase", "count words", "calculate"]


def workspace_rows() -> list[dict[str, Any]]:
    """Rows of the table `workspaces`, parents before children.

    Northwind has a director, two specialists below it and an archive below one of them;
    Harbor is another tenant, so that the border between tenants can be seen.
    """
    return [
        _row(
            "ws-director",
            "northwind",
            None,
            "Director",
            role="coordinates the team and talks to the user",
            tier=4,
            can_broadcast=True,
            answers=False,
        ),
        _row(
            "ws-research",
            "northwind",
            "ws-director",
            "Research",
            role="works out figures and checks them",
            tier=3,
            skills=["echo", "calculate"],
        ),
        _row(
            "ws-writing",
            "northwind",
            "ws-director",
            "Writing",
            role="edits and measures texts",
            tier=2,
            skills=["echo", "uppercase", "count words"],
        ),
        _row(
            "ws-archive",
            "northwind",
            "ws-research",
            "Archive",
            role="keeps what Research has found",
            tier=1,
            skills=["echo", "count words"],
        ),
        _row(
            "ws-harbor",
            "harbor",
            None,
            "Harbor",
            role="works for another organisation",
            tier=2,
            skills=ALL_SKILLS,
        ),
    ]


def _row(
    workspace_id: str,
    organisation: str,
    parent_id: str | None,
    name: str,
    *,
    role: str,
    tier: int,
    can_broadcast: bool = False,
    answers: bool = True,
    skills: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "id": workspace_id,
        "organisation": organisation,
        "parent_id": parent_id,
        "name": name,
        "role": role,
        "tier": tier,
        "can_broadcast": int(can_broadcast),
        "answers": int(answers),
        "skills": json.dumps(skills or []),
        "token": secrets.token_urlsafe(32),
    }

"""Initial workspaces of a new platform."""

from __future__ import annotations

import json
import secrets
from typing import Any

__all__ = ["build_workspace_rows"]

ALL_SKILLS = ["echo", "uppercase", "count words", "calculate"]


def build_workspace_rows() -> list[dict[str, Any]]:
    """Return the rows of the table `workspaces`, parents before children.

    The organization Northwind has a director, two specialists below it and an archive
    below one of them. Harbor is a second tenant, which shows the isolation of tenants.
    """
    return [
        _build_row(
            "ws-director",
            "northwind",
            None,
            "Director",
            role="coordinates the team and talks to the user",
            tier=4,
            can_broadcast=True,
            answers=False,
        ),
        _build_row(
            "ws-research",
            "northwind",
            "ws-director",
            "Research",
            role="calculates and verifies figures",
            tier=3,
            skills=["echo", "calculate"],
        ),
        _build_row(
            "ws-writing",
            "northwind",
            "ws-director",
            "Writing",
            role="edits texts and counts their words",
            tier=2,
            skills=["echo", "uppercase", "count words"],
        ),
        _build_row(
            "ws-archive",
            "northwind",
            "ws-research",
            "Archive",
            role="stores the findings of Research",
            tier=1,
            skills=["echo", "count words"],
        ),
        _build_row(
            "ws-harbor",
            "harbor",
            None,
            "Harbor",
            role="works for another organisation",
            tier=2,
            skills=ALL_SKILLS,
        ),
    ]


def _build_row(
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

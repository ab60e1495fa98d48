"""Handlers about workspaces: peers, one's own facts, identity and agent card."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

from examples.molecule import a2a, cards, config
from examples.molecule.registry import acting_workspace, peers_of
from toolcast_runtime import ToolError

__all__ = [
    "get_runtime_identity",
    "get_workspace_info",
    "list_peers",
    "update_agent_card",
]

MAX_CARD = 64 * 1024
CARD_STRINGS = ("name", "description", "version")
SKILL_STRINGS = ("id", "name", "description")


async def list_peers(*, source_workspace_id: str | None = None) -> dict[str, Any]:
    """Gives the workspaces that can be reached; the status is asked of each of them."""
    source = await asyncio.to_thread(acting_workspace, source_workspace_id)
    peers = await asyncio.to_thread(peers_of, source)
    running = await asyncio.gather(*(a2a.is_running(peer) for peer in peers))
    return {
        "workspace_id": source.id,
        "peers": [
            {
                "id": peer.id,
                "name": peer.name,
                "role": peer.role,
                "tier": peer.tier,
                "status": "online" if up else "offline",
                "skills": list(peer.skills),
            }
            for peer, up in zip(peers, running, strict=True)
        ],
    }


async def get_workspace_info(
    *, source_workspace_id: str | None = None
) -> dict[str, Any]:
    """Gives what the platform knows of the acting workspace."""
    own = await asyncio.to_thread(acting_workspace, source_workspace_id)
    return {
        "id": own.id,
        "name": own.name,
        "role": own.role,
        "tier": own.tier,
        "organisation": own.organisation,
        "parent_id": own.parent_id,
        "status": "online" if await a2a.is_running(own) else "offline",
    }


def get_runtime_identity() -> dict[str, str | None]:
    """Gives what this process was started as; None for what its environment lacks."""
    return {
        "model": os.environ.get("MOLECULE_MODEL"),
        "provider": os.environ.get("MOLECULE_PROVIDER"),
        "tier": os.environ.get("MOLECULE_TIER"),
        "workspace_id": config.workspace_id(),
    }


def update_agent_card(*, card: Mapping[str, Any]) -> dict[str, Any]:
    """Replaces the own card and gives the card that is served from now on."""
    own = acting_workspace(None)
    _check(card)
    cards.replace(own, dict(card))
    return cards.served(own)


def _check(card: Mapping[str, Any]) -> None:
    if len(json.dumps(card)) > MAX_CARD:
        raise ToolError(f"The card is larger than {MAX_CARD // 1024} KiB.")
    for key in CARD_STRINGS:
        if key in card and not isinstance(card[key], str):
            raise ToolError(f"The card's `{key}` must be a string.")
    skills = card.get("skills", [])
    if not isinstance(skills, list) or not all(map(_is_skill, skills)):
        named = ", ".join(f"`{key}`" for key in SKILL_STRINGS)
        raise ToolError(
            f"The card's `skills` must be a list of objects with {named} as strings and"
            " `tags` as a list of strings."
        )


def _is_skill(skill: object) -> bool:
    if not isinstance(skill, dict):
        return False
    tags = skill.get("tags")
    return (
        all(isinstance(skill.get(key), str) for key in SKILL_STRINGS)
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
    )

"""Handlers of the tools that read or change data about workspaces."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

from examples.molecule import a2a, cards, config
from examples.molecule.registry import get_acting_workspace, list_reachable
from toolcast_runtime import ToolError

__all__ = [
    "get_runtime_identity",
    "get_workspace_info",
    "list_peers",
    "update_agent_card",
]

MAX_CARD_BYTES = 64 * 1024
CARD_STRINGS = ("name", "description", "version")
SKILL_STRINGS = ("id", "name", "description")


async def list_peers(*, source_workspace_id: str | None = None) -> dict[str, Any]:
    """Return the reachable workspaces; each one is queried for its status."""
    source = await asyncio.to_thread(get_acting_workspace, source_workspace_id)
    peers = await asyncio.to_thread(list_reachable, source)
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
    """Return the platform's data about the acting workspace."""
    own = await asyncio.to_thread(get_acting_workspace, source_workspace_id)
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
    """Return the model, provider and tier from the environment, None if unset."""
    return {
        "model": os.environ.get("MOLECULE_MODEL"),
        "provider": os.environ.get("MOLECULE_PROVIDER"),
        "tier": os.environ.get("MOLECULE_TIER"),
        "workspace_id": config.get_workspace_id(),
    }


def update_agent_card(*, card: Mapping[str, Any]) -> dict[str, Any]:
    """Replace the agent's own card and return the card that is now served."""
    own = get_acting_workspace(None)
    _check_card(card)
    cards.replace_card(own, dict(card))
    return cards.build_card(own)


def _check_card(card: Mapping[str, Any]) -> None:
    if len(json.dumps(card)) > MAX_CARD_BYTES:
        raise ToolError(f"The card is larger than {MAX_CARD_BYTES // 1024} KiB.")
    for key in CARD_STRINGS:
        if key in card and not isinstance(card[key], str):
            raise ToolError(f"The card's `{key}` must be a string.")
    skills = card.get("skills", [])
    if not isinstance(skills, list) or not all(map(_is_skill, skills)):
        named = ", ".join(f"`{key}`" for key in SKILL_STRINGS)
        raise ToolError(
            f"The card's `skills` must be an array of objects with {named} as strings "
            "and `tags` as an array of strings."
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

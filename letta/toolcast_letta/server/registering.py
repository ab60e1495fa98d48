"""Brings the registry to what a plan says: the entry, its tools, and what leaves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..plan.plan import Plan
from .api import LettaApi, LettaError
from .desired_state import Attachment
from .reading import (
    raw_entry,
    read_live,
    read_registry,
    read_world,
    server_config,
)
from .state import SETTINGS, World

__all__ = ["REFRESH_SEES", "delete_leaving", "ensure_entry", "register"]

REFRESH_SEES = 50
"""How many tools of an organisation Letta's refresh looks at, oldest first."""

Say = Callable[[str], None]


def ensure_entry(api: LettaApi, wish: Attachment, world: World, say: Say) -> World:
    """The world with the entry as it should be; its name is never changed."""
    entry = world.entry
    if entry is None:
        api.create_server(wish.server_name, server_config(wish))
        say(f"created the entry {wish.server_name}")
    elif entry.url != wish.server_url or not entry.has_token:
        raw = raw_entry(api, wish) or {}
        api.update_server(entry.id, server_config(wish, raw.get("custom_headers")))
        say(f"changed the entry {wish.server_name}")
    else:
        return world
    renewed = read_world(api, wish)
    if renewed.entry is None or not renewed.entry.has_token:
        raise LettaError(f"the entry {wish.server_name} is not as it was sent")
    return renewed


def register(
    api: LettaApi,
    wish: Attachment,
    plan: Plan,
    world: World,
    settings: Mapping[str, Mapping[str, Any]],
    say: Say,
) -> None:
    """Registers what is missing and renews what differs.

    One refresh does it where refreshing can do no harm: Letta looks at 50 tools only, and
    deletes what the server does not offer at this moment. Otherwise, and for what a
    refresh left out, each tool is registered by itself, and gets its settings back.
    """
    missing = _unlike(wish, world)
    if missing and _may_refresh(plan, world, missing) and world.entry is not None:
        # Letta asks the server again, and deletes what it does not get: look first.
        live = {name: tool.digest for name, tool in read_live(api, wish).items()}
        if live != dict(plan.live):
            raise LettaError("the MCP server offers other tools now than a moment ago")
        api.refresh(world.entry.id)
        say(f"refreshed the entry {wish.server_name}")
        world = replace(world, registry=read_registry(api))
        missing = _unlike(wish, world)
    for name in missing:
        api.register(wish.server_name, name)
        say(f"registered {name}")
    _restore_settings(api, world, settings, say)


def _unlike(wish: Attachment, world: World) -> list[str]:
    """The tools that Letta would take and that it has not, or otherwise."""
    return [
        name
        for name, tool in sorted(wish.tools.items())
        if name in world.live
        and not world.live[name].problem
        and not (world.is_ours(name) and world.registry[name].digest == tool.digest)
    ]


def _may_refresh(plan: Plan, world: World, missing: list[str]) -> bool:
    """Whether a refresh sees every tool, and deletes none."""
    new = [name for name in missing if name not in world.registry]
    if len(world.registry) + len(new) > REFRESH_SEES:
        return False
    return all(name in plan.live for name in world.own_names)


def _restore_settings(
    api: LettaApi, world: World, settings: Mapping[str, Mapping[str, Any]], say: Say
) -> None:
    """Gives tools back what registering them again has reset."""
    registry = read_registry(api) if settings else {}
    for name, before in sorted(settings.items()):
        tool = registry.get(name)
        if tool is None:
            continue
        lost = {
            key: before[key]
            for key in SETTINGS
            if before.get(key) is not None and tool.settings.get(key) != before[key]
        }
        if lost:
            api.update_tool(tool.id, lost)
            say(f"gave {name} its settings back: {', '.join(sorted(lost))}")


def delete_leaving(api: LettaApi, plan: Plan, world: World, say: Say) -> None:
    """Deletes the registered tools that the specs and the server have no more."""
    for name, (_, after) in plan.registry.items():
        if after is None and world.is_ours(name):
            api.delete_tool(world.registry[name].id)
            say(f"deleted {name} from the registry")

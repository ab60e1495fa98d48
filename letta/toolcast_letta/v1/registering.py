"""Brings the registry to what a plan says: the entry, its tools, and what leaves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..plan.backend import Report
from ..plan.current_state import REGISTRATION_SETTINGS, CurrentState
from ..plan.desired_state import DesiredState
from ..plan.plan import Plan
from .api import LettaApi, LettaError
from .reading import (
    build_server_config,
    find_raw_entry,
    read_current_state,
    read_offered_tools,
    read_registry,
)

MAX_REFRESHED_TOOLS = 50
"""How many tools of an organisation Letta's refresh looks at, oldest first."""


def ensure_entry(
    api: LettaApi, desired: DesiredState, current: CurrentState, report: Report
) -> CurrentState:
    """What is there, once the entry is as it should be; its name is never changed."""
    entry = current.entry
    if entry is None:
        api.create_server(desired.server_name, build_server_config(desired))
        report(f"created the entry {desired.server_name}")
    elif entry.url != desired.server_url or not entry.has_token:
        raw = find_raw_entry(api, desired) or {}
        api.update_server(
            entry.id, build_server_config(desired, raw.get("custom_headers"))
        )
        report(f"changed the entry {desired.server_name}")
    else:
        return current
    renewed = read_current_state(api, desired)
    if renewed.entry is None or not renewed.entry.has_token:
        raise LettaError(f"the entry {desired.server_name} is not as it was sent")
    return renewed


def register_tools(
    api: LettaApi,
    desired: DesiredState,
    plan: Plan,
    current: CurrentState,
    settings: Mapping[str, Mapping[str, Any]],
    report: Report,
) -> None:
    """Registers what is missing and renews what differs.

    One refresh does it where refreshing can do no harm: Letta looks at 50 tools only, and
    deletes what the server does not offer at this moment. Otherwise, and for what a
    refresh left out, each tool is registered by itself, and gets its settings back.
    """
    missing = _list_outdated_tools(desired, current)
    if missing and _can_refresh(plan, current, missing) and current.entry is not None:
        # Letta asks the server again, and deletes what it does not get: look first.
        live = {
            name: tool.digest for name, tool in read_offered_tools(api, desired).items()
        }
        if live != dict(plan.offered):
            raise LettaError("the MCP server offers other tools now than a moment ago")
        api.refresh_server(current.entry.id)
        report(f"refreshed the entry {desired.server_name}")
        current = replace(current, registry=read_registry(api))
        missing = _list_outdated_tools(desired, current)
    for name in missing:
        api.register_tool(desired.server_name, name)
        report(f"registered {name}")
    restore_settings(api, settings, report)


def _list_outdated_tools(desired: DesiredState, current: CurrentState) -> list[str]:
    """The tools that Letta would take and that it has not, or otherwise."""
    return [
        name
        for name, tool in sorted(desired.tools.items())
        if name in current.offered
        and not current.offered[name].problem
        and not current.is_up_to_date(tool)
    ]


def _can_refresh(plan: Plan, current: CurrentState, missing: list[str]) -> bool:
    """Whether a refresh sees every tool, and deletes none."""
    new = [name for name in missing if name not in current.registry]
    if len(current.registry) + len(new) > MAX_REFRESHED_TOOLS:
        return False
    return all(name in plan.offered for name in current.own_names)


def restore_settings(
    api: LettaApi, settings: Mapping[str, Mapping[str, Any]], report: Report
) -> None:
    """Gives tools back what registering them again has reset."""
    registry = read_registry(api) if settings else {}
    for name, before in sorted(settings.items()):
        tool = registry.get(name)
        if tool is None:
            continue
        reset = {
            key: before[key]
            for key in REGISTRATION_SETTINGS
            if before.get(key) is not None and tool.settings.get(key) != before[key]
        }
        if reset:
            api.update_tool(tool.id, reset)
            report(f"gave {name} its settings back: {', '.join(sorted(reset))}")


def delete_obsolete_tools(
    api: LettaApi, plan: Plan, current: CurrentState, report: Report
) -> None:
    """Deletes the registered tools that the specs and the server have no more."""
    for name, (_, after) in plan.registry.items():
        if after is None and current.is_own_tool(name):
            api.delete_tool(current.registry[name].id)
            report(f"deleted {name} from the registry")

"""Apply a plan's changes to Letta's registry: the entry, its tools, and deletions."""

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
"""The number of an organization's tools that Letta's refresh reads, oldest first.

A refresh ignores the other tools.
"""


def ensure_entry(
    api: LettaApi, desired: DesiredState, current: CurrentState, report: Report
) -> CurrentState:
    """Create or update the MCP server's entry; return the state after it.

    An entry that is already as desired is not sent, and `current` is returned. An
    update changes URL and headers, never the name.

    Raises:
        LettaError: a request failed, or the entry then does not exist or lacks the
            token.
    """
    entry = current.entry
    if entry is None:
        api.create_server(desired.server_name, build_server_config(desired))
        report(f"created the entry {desired.server_name}")
    elif (
        entry.url != desired.server_url or not entry.has_token or entry.has_agent_header
    ):
        raw = find_raw_entry(api, desired) or {}
        api.update_server(
            entry.id, build_server_config(desired, raw.get("custom_headers"))
        )
        report(f"changed the entry {desired.server_name}")
    else:
        return current
    # Letta registers the tools of a new entry immediately, so the registry in `current`
    # is outdated.
    renewed = read_current_state(api, desired)
    if renewed.entry is None or not renewed.entry.has_token:
        raise LettaError(f"the entry {desired.server_name} differs from what was sent")
    return renewed


def register_tools(
    api: LettaApi,
    desired: DesiredState,
    plan: Plan,
    current: CurrentState,
    settings: Mapping[str, Mapping[str, Any]],
    report: Report,
) -> None:
    """Register missing tools, and update tools that differ from their specs.

    A refresh of the entry does both in one request, but reads only 50 tools of the
    organization and deletes tools that the MCP server does not offer at that moment. It
    is used only if neither matters; other tools, and tools that the refresh skipped,
    are registered with one request each. The settings are restored at the end.

    Args:
        api: the Letta server.
        desired: the desired state.
        plan: the plan to apply.
        current: the current state.
        settings: the settings to restore, by tool name.
        report: receives a line for each step.

    Raises:
        LettaError: a request failed, or the MCP server's tools have changed since the
            plan.
    """
    missing = _list_outdated_tools(desired, current)
    if missing and _can_refresh(plan, current, missing) and current.entry is not None:
        # Compare the MCP server's tools immediately before the refresh: Letta deletes
        # registered tools that the server does not offer at that moment.
        live = {
            name: tool.digest for name, tool in read_offered_tools(api, desired).items()
        }
        if live != dict(plan.offered):
            raise LettaError(
                "the tools of the MCP server have changed while the plan was applied"
            )
        api.refresh_server(current.entry.id)
        report(f"refreshed the entry {desired.server_name}")
        current = replace(current, registry=read_registry(api))
        missing = _list_outdated_tools(desired, current)
    for name in missing:
        api.register_tool(desired.server_name, name)
        report(f"registered {name}")
    restore_settings(api, settings, report)


def _list_outdated_tools(desired: DesiredState, current: CurrentState) -> list[str]:
    """Return the names of desired tools that are missing or differ in the registry.

    Tools are left out that the MCP server does not offer, or whose schema Letta does
    not accept.
    """
    return [
        name
        for name, tool in sorted(desired.tools.items())
        if name in current.offered
        and not current.offered[name].problem
        and not current.is_up_to_date(tool)
    ]


def _can_refresh(plan: Plan, current: CurrentState, missing: list[str]) -> bool:
    """Return whether a refresh reads every tool and deletes none."""
    new_names = [name for name in missing if name not in current.registry]
    # A refresh ignores tools beyond its limit, and new tools are last.
    if len(current.registry) + len(new_names) > MAX_REFRESHED_TOOLS:
        return False
    # A refresh deletes registered tools that the server does not offer.
    return all(name in plan.offered for name in current.own_names)


def restore_settings(
    api: LettaApi, settings: Mapping[str, Mapping[str, Any]], report: Report
) -> None:
    """Set the settings of tools to the passed values where they differ.

    Registering a tool again resets its settings. A tool that is not registered is
    skipped, and so is a setting without a value.
    """
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
            report(f"restored settings of {name}: {', '.join(sorted(reset))}")


def delete_obsolete_tools(
    api: LettaApi, plan: Plan, current: CurrentState, report: Report
) -> None:
    """Delete the registered tools that the plan deletes.

    A tool that no longer belongs to the toolset's entry is skipped.
    """
    for name, (_, after) in plan.registry.items():
        if after is None and current.is_own_tool(name):
            api.delete_tool(current.registry[name].id)
            report(f"deleted {name} from the registry")

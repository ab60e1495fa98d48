"""Who gets a tool and where: each client and target has it, or not, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client
from .table import list_enabled_targets
from .target import Target


class Exposure(NamedTuple):
    """What keeps one tool from whom.

    A client has a tool in a target when neither keeps it out.

    Attributes:
        clients: by each client of the toolset, in order: why it may not have the tool, in
            one line; empty where it may. A toolset without clients has one caller, who may
            have every tool.
        targets: by each enabled target, in order: why the tool is not in it; empty where it
            is.
    """

    clients: Mapping[str, str]
    targets: Mapping[str, str]


def build_exposures(workspace: Workspace, toolset: Toolset) -> dict[str, Exposure]:
    """The exposure of each tool of a toolset, by its name.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return {tool.name: build_exposure(toolset, tool, chosen) for tool in toolset.tools}


def build_exposure(
    toolset: Toolset, tool: ToolSpec, targets: Sequence[Target]
) -> Exposure:
    """The exposure of one tool.

    Args:
        targets: the toolset's enabled ones, each after those that it needs.
    """
    clients = {one.name: _kept_by(toolset, tool, one) for one in toolset.clients}
    reasons: dict[str, str] = {}
    for target in targets:
        reason = _left_out(toolset, tool, target)
        for need in target.needs:
            if not reason and reasons.get(need):
                reason = f"not in {need}, which {target.name} needs: {reasons[need]}"
        reasons[target.name] = reason
    return Exposure(clients, reasons)


def _kept_by(toolset: Toolset, tool: ToolSpec, client: Client) -> str:
    """Why a client may not have a tool; empty where it may."""
    if toolset.is_offered(tool, client):
        return ""
    if tool.clients is not None and client.name not in tool.clients:
        meant = " and ".join(tool.clients)
        return f"it is for {meant} only" if meant else "it is for no client"
    restriction = client.entry_for("restrict", tool.name)
    if restriction is not None:
        by = f" by {restriction.text}" if restriction.is_pattern else ""
        return f"`restrict` of {client.name} names it{by}"
    if not client.permits(tool.permission):
        return f"{client.name} has not the permission {tool.permission}"
    return f"`allow` of {client.name} does not name it"


def _left_out(toolset: Toolset, tool: ToolSpec, target: Target) -> str:
    """Why a tool is not in a target, by a decision about this target."""
    for exclusion in toolset.exclusions:
        if (exclusion.tool, exclusion.target) == (tool.name, target.name):
            return exclusion.reason
    reason = (
        target.omission_reason(toolset, tool)
        if target.omission_reason is not None
        else None
    )
    return reason or ""

"""Exposure: which clients and targets have a tool, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client
from .table import list_enabled_targets
from .target import Target


class Exposure(NamedTuple):
    """The reasons why clients and targets do not have a tool.

    A client has a tool in a target if both reasons are empty.

    Attributes:
        clients: the reason per client of the toolset, on one line; empty if the client has
            access. A toolset without clients has one caller, with access to all tools.
        targets: the reason per enabled target; empty if the tool is included.
    """

    clients: Mapping[str, str]
    targets: Mapping[str, str]


def build_exposures(workspace: Workspace, toolset: Toolset) -> dict[str, Exposure]:
    """Return the exposure of each tool of a toolset by tool name.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    targets = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return {tool.name: build_exposure(toolset, tool, targets) for tool in toolset.tools}


def build_exposure(
    toolset: Toolset, tool: ToolSpec, targets: Sequence[Target]
) -> Exposure:
    """Return why each client and each enabled target does not have a tool.

    Args:
        toolset: the toolset.
        tool: one of its tools.
        targets: the enabled targets of the toolset, each after the targets that it needs.
    """
    clients = {
        client.name: _find_access_reason(toolset, tool, client)
        for client in toolset.clients
    }
    reasons: dict[str, str] = {}
    for target in targets:
        reason = _find_omission_reason(toolset, tool, target)
        # A needed target is earlier in `targets`, so its reason is already known here.
        for need in target.needs:
            if not reason and reasons.get(need):
                reason = f"not in {need}, which {target.name} needs: {reasons[need]}"
        reasons[target.name] = reason
    return Exposure(clients, reasons)


def _find_access_reason(toolset: Toolset, tool: ToolSpec, client: Client) -> str:
    """Return the reason why a client cannot use a tool; empty if the client can.

    If there are several reasons, the result is the first of: the tool's `clients`, the
    client's `deny`, a missing permission, the client's `allow`.
    """
    if toolset.is_offered(tool, client):
        return ""
    if tool.clients is not None and client.name not in tool.clients:
        clients = " and ".join(tool.clients)
        return f"only for {clients}" if clients else "for no client"
    restriction = client.find_entry("deny", tool.name)
    if restriction is not None:
        pattern = f" with {restriction.text}" if restriction.is_pattern else ""
        return f"`deny` of {client.name} lists it{pattern}"
    if not client.has_permission(tool.permission):
        return f"{client.name} does not have the permission {tool.permission}"
    return f"`allow` of {client.name} does not list it"


def _find_omission_reason(toolset: Toolset, tool: ToolSpec, target: Target) -> str:
    """Return the declared reason for omitting a tool from a target; empty without one.

    `exclusions` of `toolset.yaml` precede the tool's spec. Needed targets are ignored.
    """
    for exclusion in toolset.exclusions:
        if (exclusion.tool, exclusion.target) == (tool.name, target.name):
            return exclusion.reason
    reason = (
        target.omission_reason(toolset, tool)
        if target.omission_reason is not None
        else None
    )
    return reason or ""

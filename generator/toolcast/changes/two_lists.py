"""Compares two lists of tools: as two states of specs, and what no spec can say besides."""

from __future__ import annotations

import datetime

from ..model.model import Workspace
from ..servers.server_listing import ServerListing
from .comparison import Comparison, compare
from .effects import EffectKind
from .listed_entries import Owner, listing_changes

__all__ = ["compare_lists"]

_OF_LISTINGS = "listing."
_OF_SPECS = "listing.instructions/changed"


def compare_lists(
    workspaces: tuple[Workspace, Workspace],
    listings: tuple[ServerListing, ServerListing],
    today: datetime.date | None = None,
) -> Comparison:
    """What has changed from one list to another, and what the tools cost now.

    Args:
        workspaces: both lists as `imports/list_workspace.py` has them, the old one first.
        listings: the same as they came.
        today: as of `compare`.
    """
    found = compare(*workspaces, today)
    (toolset,) = workspaces[1].toolsets
    owner = Owner(toolset.name, toolset.source.file)
    # Resources, prompts, and members of tools that are no fields of specs.
    others = [
        change
        for change in listing_changes(*listings, owner).changes
        if change.rule.id.startswith(_OF_LISTINGS) and change.rule.id != _OF_SPECS
    ]
    effects = [one for one in found.effects if one.kind is not EffectKind.SEEN]
    return Comparison([*found.changes, *others], effects)

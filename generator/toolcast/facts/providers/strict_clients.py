"""What clients with MCP's strict types refuse of a tool in a list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolcast_runtime.validation.protocol import (
    REVISIONS,
    Refusal,
    listed_before_2026,
    problems_with_tool,
)

__all__ = ["refusals_of", "refused_by"]


def refusals_of(definition: Mapping[str, Any]) -> dict[str, list[Refusal]]:
    """What is refused of a tool as it is listed, by the revisions that refuse anything."""
    old, new = REVISIONS
    shown = {old: listed_before_2026(definition), new: definition}
    found = {each: problems_with_tool(tool, each) for each, tool in shown.items()}
    return {revision: refusals for revision, refusals in found.items() if refusals}


def refused_by(definition: Mapping[str, Any]) -> dict[str, list[str]]:
    """The places of `refusals_of`, which the generated tests expect."""
    return {
        revision: sorted({refusal.place for refusal in refusals})
        for revision, refusals in refusals_of(definition).items()
    }

"""What the server of a toolset lists by its specs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..facts.mcp_definition import mcp_definition
from ..facts.skill_texts import front_matter_of, skill_owners
from ..model.model import Toolset, ToolSpec
from .server_listing import ServerListing

__all__ = ["declared_listing", "without_sizes_of_skills"]

_NEWEST = "2026-07-28"


def declared_listing(
    toolset: Toolset, protocol: str | None = None, *, has_skills: bool = False
) -> ServerListing:
    """The listing of a toolset's own tools, resources and prompts.

    Args:
        toolset: whose.
        protocol: the revision in which it is spoken of: the newest has no `execution`, in
            older ones an `outputSchema` is that of an object.
        has_skills: the server lists the toolset's skills, too; their sizes are left out,
            which the specs do not say.
    """
    tools = []
    others = toolset.excluded("mcp")
    for tool in toolset.tools:
        if tool.name in others:
            continue
        definition = mcp_definition(tool)
        if protocol == _NEWEST:
            definition.pop("execution", None)
        elif protocol is not None:
            returns = definition.get("outputSchema")
            if not isinstance(returns, dict) or returns.get("type") != "object":
                definition.pop("outputSchema", None)
        tools.append(definition)
    resources = [spec for spec in toolset.mcp_resources if spec.uri is not None]
    templates = [spec for spec in toolset.mcp_resources if spec.uri is None]
    return ServerListing(
        toolset.name,
        protocol,
        instructions=toolset.instructions,
        tools=tuple(tools),
        resources=(
            *(spec.mcp for spec in resources),
            *(
                _skill(owner)
                for owner in skill_owners(toolset)
                if has_skills and (owner is toolset or owner.name not in others)
            ),
        ),
        resource_templates=tuple(spec.mcp for spec in templates),
        prompts=tuple(spec.mcp for spec in toolset.mcp_prompts),
    )


def _skill(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """A skill as the runtime's `skills/served_skills.py` lists it."""
    front = front_matter_of(owner)
    name = str(front["name"])
    return {
        "uri": f"skill://{name}/SKILL.md",
        "name": name,
        "mimeType": "text/markdown",
        "description": str(front["description"]),
    }


def without_sizes_of_skills(listing: ServerListing) -> ServerListing:
    """The listing as `declared_listing` has it."""
    resources = [
        (
            {key: value for key, value in entry.items() if key != "size"}
            if entry["uri"].startswith("skill://")
            else entry
        )
        for entry in listing.resources
    ]
    again = None if listing.again is None else without_sizes_of_skills(listing.again)
    return replace(listing, resources=tuple(resources), again=again)

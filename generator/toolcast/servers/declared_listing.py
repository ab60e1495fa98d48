"""What the server of a toolset lists by its specs."""

from __future__ import annotations

from ..facts.mcp_definition import mcp_definition
from ..model.model import Toolset
from .server_listing import ServerListing

__all__ = ["declared_listing"]

_NEWEST = "2026-07-28"


def declared_listing(toolset: Toolset, protocol: str | None = None) -> ServerListing:
    """The listing of a toolset's own tools, resources and prompts.

    Args:
        toolset: whose.
        protocol: the revision in which it is spoken of: the newest has no `execution`, in
            older ones an `outputSchema` is that of an object.
    """
    tools = []
    for tool in toolset.tools:
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
        resources=tuple(spec.mcp for spec in resources),
        resource_templates=tuple(spec.mcp for spec in templates),
        prompts=tuple(spec.mcp for spec in toolset.mcp_prompts),
    )

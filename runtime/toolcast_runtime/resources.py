"""Resources and MCP prompts: their definitions, what they give, content behind links."""

from .rooms.resources.link_limits import LinkLimits

__all__ = ["LinkLimits"]

"""Resources and MCP prompts: their definitions, what they give, content behind links."""

from .kept_content import LinkLimits

__all__ = ["LinkLimits"]

"""Resources and MCP prompts: their definitions, what they give, content behind links."""

from .core.toolset_settings import LinkLimits

__all__ = ["LinkLimits"]

"""What MCP's own schemas say of a tool in a list and of a block of content."""

from .schemas import (
    HANDSHAKE,
    REVISIONS,
    Refusal,
    is_structured,
    problems_with_content,
    problems_with_tool,
)

__all__ = [
    "HANDSHAKE",
    "REVISIONS",
    "Refusal",
    "is_structured",
    "problems_with_content",
    "problems_with_tool",
]

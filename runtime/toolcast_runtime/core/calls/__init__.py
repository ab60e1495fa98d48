"""One call: its context, its handler, its answer."""

from ..context import (
    CallContext,
    CallOutcome,
    ReportProgress,
    ToolError,
    ToolResponse,
    current_call,
)

__all__ = [
    "CallContext",
    "CallOutcome",
    "ReportProgress",
    "ToolError",
    "ToolResponse",
    "current_call",
]

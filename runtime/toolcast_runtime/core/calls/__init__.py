"""One call: its context, its handler, its answer."""

from .call_context import CallContext, CallOutcome, ReportProgress, current_call
from .tool_response import ToolError, ToolResponse

__all__ = [
    "CallContext",
    "CallOutcome",
    "ReportProgress",
    "ToolError",
    "ToolResponse",
    "current_call",
]

"""What whoever runs a server sees of it: log lines, spans and metrics."""

from .call_lines import log_call

__all__ = ["log_call"]

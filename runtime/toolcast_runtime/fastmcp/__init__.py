"""Adapters for unchanged functions that were written for FastMCP or the official SDK.

A handlers module names each function below `adapt`. Neither library is imported here.
"""

from .adapting import Recorder, adapt, adapt_lifespan, build_server
from .context import make_context
from .results import build_converter, translate_error

__all__ = [
    "Recorder",
    "adapt",
    "adapt_lifespan",
    "build_converter",
    "build_server",
    "make_context",
    "translate_error",
]

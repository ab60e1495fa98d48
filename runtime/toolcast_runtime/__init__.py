"""What generated packages run on: plain Python, without the generator.

Handlers import what they work with from here:

    from toolcast_runtime import ToolError, ToolResponse, current_call

Importing this package loads nothing else; each module that needs a library says so in its
docstring and imports it when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .core.context import (
        CallContext,
        Caller,
        Declined,
        ToolError,
        ToolResponse,
        calling_as,
        current_call,
    )
    from .core.runtime_level import RUNTIME_LEVEL, require_level
    from .rooms.resources.content_blocks import audio, file, image, link, text

__all__ = [
    "RUNTIME_LEVEL",
    "CallContext",
    "Caller",
    "Declined",
    "ToolError",
    "ToolResponse",
    "__version__",
    "audio",
    "calling_as",
    "current_call",
    "file",
    "image",
    "link",
    "require_level",
    "text",
]

__version__ = "0.2.0"

_LAZY = {
    "RUNTIME_LEVEL": "core.runtime_level",
    "CallContext": "core.context",
    "Caller": "core.context",
    "Declined": "core.context",
    "ToolError": "core.context",
    "ToolResponse": "core.context",
    "audio": "rooms.resources.content_blocks",
    "calling_as": "core.context",
    "current_call": "core.context",
    "file": "rooms.resources.content_blocks",
    "image": "rooms.resources.content_blocks",
    "link": "rooms.resources.content_blocks",
    "require_level": "core.runtime_level",
    "text": "rooms.resources.content_blocks",
}


def __getattr__(name: str) -> Any:
    # What handlers use is loaded when it is asked for, so that the package is light.
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value

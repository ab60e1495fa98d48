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
    from .rooms.resources.content_blocks import audio, file, image, link, text

__all__ = [
    "LEVEL",
    "OLDEST_LEVEL",
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

LEVEL = 3
"""The newest level of generated code that this runtime serves."""

OLDEST_LEVEL = 1
"""The oldest one. The changelog says how long a level is served."""

_LAZY = {
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
    "text": "rooms.resources.content_blocks",
}

levels: dict[str, int] = {}
"""The level of each generated package that is imported, by its name."""


def require_level(level: int, package: str) -> None:
    """Makes sure that this runtime serves a generated package, and remembers its level.

    Args:
        level: the runtime level that the package was generated for.
        package: its name.

    Raises:
        ImportError: it does not; the text says which of the two has to be renewed.
    """
    if OLDEST_LEVEL <= level <= LEVEL:
        levels[package] = level
        return
    served = (
        f"levels {OLDEST_LEVEL} to {LEVEL}"
        if OLDEST_LEVEL < LEVEL
        else f"level {LEVEL}"
    )
    this = f"toolcast-runtime {__version__}, which serves {served}"
    if level > LEVEL:
        raise ImportError(
            f"{package} is generated for runtime level {level}, and installed is {this}:"
            " install a newer toolcast-runtime"
        )
    raise ImportError(
        f"{package} is generated for runtime level {level}, and installed is {this}:"
        " generate again with a newer toolcast, or install an older toolcast-runtime"
    )


def __getattr__(name: str) -> Any:
    # What handlers use is loaded when it is asked for, so that the package is light.
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_LAZY[name]}", __name__), name)
    globals()[name] = value
    return value

"""The runtime of generated packages, which does not need the generator.

Handlers import their helpers from this package:

    from toolcast_runtime import ToolError, ToolResponse, current_call

Importing this package loads none of its modules: each name is imported on first use. Modules that
need a third-party library state it in their docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .core.access import Access, AccessError, Client, Override, UnknownClientError
    from .core.context import (
        CallContext,
        Caller,
        DeclinedError,
        ToolError,
        ToolResponse,
        calling_as,
        current_call,
    )
    from .core.definitions.definitions import DefinitionError
    from .core.definitions.tool import Action, Tool, ToolProvider
    from .core.override_file import OverrideFile
    from .core.registry import Registry, UnknownToolError
    from .core.runtime_level import RUNTIME_LEVEL, require_level
    from .resources.content_blocks import audio, file, image, link, text

__all__ = [
    "RUNTIME_LEVEL",
    "Access",
    "AccessError",
    "Action",
    "CallContext",
    "Caller",
    "Client",
    "DeclinedError",
    "DefinitionError",
    "Override",
    "OverrideFile",
    "Registry",
    "Tool",
    "ToolError",
    "ToolProvider",
    "ToolResponse",
    "UnknownClientError",
    "UnknownToolError",
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

__getattr__ = lazy_getattr(
    __name__,
    {
        "Access": ".core.access",
        "AccessError": ".core.access",
        "Action": ".core.definitions.tool",
        "CallContext": ".core.context",
        "Caller": ".core.context",
        "Client": ".core.access",
        "DeclinedError": ".core.context",
        "DefinitionError": ".core.definitions.definitions",
        "Override": ".core.access",
        "OverrideFile": ".core.override_file",
        "RUNTIME_LEVEL": ".core.runtime_level",
        "Registry": ".core.registry",
        "Tool": ".core.definitions.tool",
        "ToolError": ".core.context",
        "ToolProvider": ".core.definitions.tool",
        "ToolResponse": ".core.context",
        "UnknownClientError": ".core.access",
        "UnknownToolError": ".core.registry",
        "audio": ".resources.content_blocks",
        "calling_as": ".core.context",
        "current_call": ".core.context",
        "file": ".resources.content_blocks",
        "image": ".resources.content_blocks",
        "link": ".resources.content_blocks",
        "require_level": ".core.runtime_level",
        "text": ".resources.content_blocks",
    },
)

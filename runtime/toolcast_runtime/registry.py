"""Look-up, lists and calls of a toolset's tools: the class `Registry`."""

from .core.access import AccessError, UnknownClientError
from .core.definitions.definitions import DefinitionError
from .core.definitions.tool import Action, Tool, ToolProvider
from .core.registry import Registry, UnknownToolError

__all__ = [
    "AccessError",
    "Action",
    "DefinitionError",
    "Registry",
    "Tool",
    "ToolProvider",
    "UnknownClientError",
    "UnknownToolError",
]

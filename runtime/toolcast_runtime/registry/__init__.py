"""Look-up, lists and calls of a toolset's tools: the class `Registry`."""

from ..access.clients import AccessError, UnknownClientError
from ..tools.definitions import DefinitionError
from ..tools.provider import ToolProvider
from ..tools.tool import Action, Tool
from .registry import Registry, UnknownToolError

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

"""What a tool is: `Tool` and its `Action`s, read from definitions or given by a provider."""

from .definitions import DefinitionError, parse_definition, read_tools
from .provider import ToolProvider, Wanted
from .tool import Action, Tool

__all__ = [
    "Action",
    "DefinitionError",
    "Tool",
    "ToolProvider",
    "Wanted",
    "parse_definition",
    "read_tools",
]

"""The tools of external MCP servers."""

from .external_tools import ExternalTools
from .server_settings import ExternalServer, MissingVariableError

__all__ = ["ExternalServer", "ExternalTools", "MissingVariableError"]

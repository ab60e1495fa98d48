"""The tools of external MCP servers."""

from typing import TYPE_CHECKING

from .core.lazy_names import lazy_getattr
from .core.server_settings import ExternalServer, MissingVariableError

if TYPE_CHECKING:
    from .rooms.external.external_tools import ExternalTools

__all__ = ["ExternalServer", "ExternalTools", "MissingVariableError"]

# A toolset declares its servers long before the first connection is made.
__getattr__ = lazy_getattr(
    __name__, {"ExternalTools": "toolcast_runtime.rooms.external.external_tools"}
)

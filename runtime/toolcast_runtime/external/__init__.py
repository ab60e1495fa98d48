"""Tools of external MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.server_settings import ExternalServer, MissingVariableError
    from .external_tools import ExternalTools

__all__ = ["ExternalServer", "ExternalTools", "MissingVariableError"]

__getattr__ = lazy_getattr(
    __name__,
    {
        "ExternalServer": "..core.server_settings",
        "ExternalTools": ".external_tools",
        "MissingVariableError": "..core.server_settings",
    },
)

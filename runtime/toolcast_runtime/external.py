"""The tools of external MCP servers."""

from typing import TYPE_CHECKING, Any

from .core.server_settings import ExternalServer, MissingVariableError

if TYPE_CHECKING:
    from .rooms.external.external_tools import ExternalTools

__all__ = ["ExternalServer", "ExternalTools", "MissingVariableError"]


def __getattr__(name: str) -> Any:
    # The connections are imported by who makes some.
    if name == "ExternalTools":
        from .rooms.external.external_tools import ExternalTools

        return ExternalTools
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

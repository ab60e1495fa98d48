"""Toolcast's extension for Letta."""

from toolcast_runtime import __version__

__all__ = ["__version__"]

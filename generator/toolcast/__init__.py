"""Toolcast: code, prompts and server definitions for agents, generated from YAML tool specs."""

from toolcast_runtime import __version__

__all__ = ["__version__"]

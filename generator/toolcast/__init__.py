"""Toolcast: one YAML spec per tool, generated into everything an agent platform shows or runs."""

from toolcast_runtime import __version__

__all__ = ["__version__"]

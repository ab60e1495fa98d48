"""Toolcast letta."""

__version__ = "0.2.0"

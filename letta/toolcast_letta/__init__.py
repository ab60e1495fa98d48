"""Toolcast letta."""

__version__ = "0.1.0"

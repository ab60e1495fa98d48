"""The docs of a toolset's tools for system prompts."""

from .rooms.prompts import CliBlock, Prompts, Section

__all__ = ["CliBlock", "Prompts", "Section"]

"""The docs of a toolset's tools for system prompts."""

from .prompts import CliBlock, Prompts, Section, command_rows

__all__ = ["CliBlock", "Prompts", "Section", "command_rows"]

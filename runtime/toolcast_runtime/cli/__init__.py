"""A toolset's registry as commands of a shell."""

from .command_line import command_line

__all__ = ["command_line"]

"""A toolset's registry as commands of a shell."""

try:
    import click  # noqa: F401 - asked for first, to say how to install it
except ImportError as error:
    raise ImportError(
        f"{__name__} needs click: pip install 'toolcast-runtime[cli]'"
    ) from error

from .rooms.cli.command_line import command_line, keywords

__all__ = ["command_line", "keywords"]

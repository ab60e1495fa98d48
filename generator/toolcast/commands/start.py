"""Where the program starts."""

from __future__ import annotations

from .entry import main

__all__ = ["main", "program"]


def program() -> None:
    """The `toolcast` command as a whole process."""
    main()

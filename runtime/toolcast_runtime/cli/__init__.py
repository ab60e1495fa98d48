"""Shell commands for the tools of a registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .click_commands import command_line

__all__ = ["command_line"]

__getattr__ = lazy_getattr(__name__, {"command_line": ".click_commands"})

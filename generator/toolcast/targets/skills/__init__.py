"""Agent Skills: a SKILL.md for a toolset, or for a tool, with files that are read on demand."""

from .skill_files import TARGET

__all__ = ["TARGET"]

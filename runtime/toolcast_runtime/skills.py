"""Agent Skills: how to use a toolset's tools, for agents that read files on demand."""

from .rooms.skills import Skill, Skills

__all__ = ["Skill", "Skills"]

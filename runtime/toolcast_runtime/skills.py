"""Agent Skills: how to use a toolset's tools, for agents that read files on demand."""

from .rooms.skills import SectionTexts, Skill, Skills

__all__ = ["SectionTexts", "Skill", "Skills"]

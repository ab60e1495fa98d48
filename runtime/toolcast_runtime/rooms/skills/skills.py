"""The skills of a toolset, for each client with its own tools alone.

Every text is finished Markdown: those of tools stand in their definitions, those of sections in
the toolset's prompt docs. The same pieces, put together for the whole toolset, are the files
beside the generated package.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol

from .skill_files import (
    SkillFile,
    SkillSection,
    SkillTool,
    tool_files,
    toolset_files,
)

if TYPE_CHECKING:
    from ...core.definitions.tool import Tool
    from ...core.registry import Registry


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    Attributes:
        front_matter: what its SKILL.md begins with, as values; `name` and `description`
            are always there.
        files: the texts of its files by their paths; `SKILL.md` comes first.
    """

    front_matter: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def name(self) -> str:
        """Its name, which is its folder's, too."""
        name: str = self.front_matter["name"]
        return name

    @property
    def description(self) -> str:
        """What it does, and when to use it."""
        description: str = self.front_matter["description"]
        return description


class ToolDocs(Protocol):
    """The prompt docs of a toolset, whose sections its skills have, too."""

    @property
    def registry(self) -> Registry:
        """Has the tools, and says who may have which."""

    def grouped(self, tools: Iterable[Tool]) -> Iterable[tuple[Any, Sequence[Tool]]]:
        """The sections that have some of the tools, each with those."""


class Skills:
    """The skills of a toolset: one of its own, and those of tools that have one.

    Args:
        prompts: the toolset's prompt docs.
        front_matter: that of the toolset's skill; None where it has none.
        title: the heading of the toolset's skill.
        guidance: how its tools are used together; "" for nothing.
    """

    def __init__(
        self,
        prompts: ToolDocs,
        *,
        front_matter: Mapping[str, Any] | None = None,
        title: str = "",
        guidance: str = "",
    ) -> None:
        self._prompts = prompts
        self._front_matter = front_matter
        self._title = title
        self._guidance = guidance

    def of(
        self, client: str | None = None, *, target: str | None = None
    ) -> list[Skill]:
        """The skills of a client: those in which a tool is that it may have.

        Args:
            client: who asks.
            target: leaves out the tools that are declared not to be in this target.

        Raises:
            UnknownClientError: the toolset has clients and this is none of them.
            AccessError: who may have which tool cannot be found out.
        """
        return self._of(self._prompts.registry.tools(client, target=target))

    def files(self) -> dict[str, str]:
        """The whole toolset's files by their paths, without signatures.

        No administrator's change touches them.
        """
        skills = self._of(self._prompts.registry.local_tools)
        return {
            f"{skill.name}/{path}": text
            for skill in skills
            for path, text in skill.files.items()
        }

    def _of(self, tools: Sequence[Tool]) -> list[Skill]:
        there = [tool for tool in tools if tool.is_in("skills")]
        sections = [
            SkillSection(
                section.name,
                section.heading,
                section.intro,
                section.footer,
                [_told(tool) for tool in members],
            )
            for section, members in self._prompts.grouped(there)
        ]
        skills = []
        if self._front_matter is not None and sections:
            files = toolset_files(
                self._front_matter, self._title, self._guidance, sections
            )
            skills.append(_skill(self._front_matter, files))
        own = {tool.name: _said(tool).get("own") for tool in there}
        for section in sections:
            for told in section.tools:
                if front := own[told.name]:
                    skills.append(_skill(front, tool_files(front, told)))
        return skills


def _skill(front: Mapping[str, Any], files: Mapping[str, SkillFile]) -> Skill:
    return Skill(front, {path: file.text for path, file in files.items()})


def _told(tool: Tool) -> SkillTool:
    usage = tool.prompt_usage
    # The first paragraph, if nothing else is said.
    when = _said(tool).get("when_lines", len(list(takewhile(bool, usage))))
    line, goes = tool.prompt_line or "", tool.deprecated is not None
    return SkillTool(tool.name, line, usage, when, goes)


def _said(tool: Tool) -> Mapping[str, Any]:
    """What a tool's definition says for its skills alone."""
    said: Mapping[str, Any] = tool.parts.get("skills", {})
    return said

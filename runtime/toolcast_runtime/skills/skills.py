"""The skills of a toolset, for each client with its own tools alone.

Every text is finished Markdown: those of tools stand in their definitions, those of sections in
the toolset's prompt docs. The same pieces, put together for the whole toolset, are the files
beside the generated package.

Source: https://agentskills.io/specification
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ..tools.module_names import module_name
from .front_matter import front_matter

if TYPE_CHECKING:
    from ..prompts import Prompts
    from ..tools.tool import Tool

__all__ = ["Skill", "Skills"]

_MAIN = "SKILL.md"


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
        prompts: Prompts,
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
        own = [
            Skill(_said(tool)["own"], {_MAIN: _of_tool(tool)})
            for _, members in self._prompts.grouped(there)
            for tool in members
            if "own" in _said(tool)
        ]
        whole = self._whole(there)
        return own if whole is None else [whole, *own]

    def _whole(self, tools: Sequence[Tool]) -> Skill | None:
        """The toolset's own skill; None where it has none, or no tool."""
        sections = list(self._prompts.grouped(tools))
        if self._front_matter is None or not sections:
            return None
        text = [front_matter(self._front_matter), "", f"# {self._title}"]
        references: dict[str, str] = {}
        if self._guidance:
            text += ["", self._guidance]
        for section, members in sections:
            text += ["", f"## {section.heading}"]
            if section.intro:
                text += ["", section.intro]
            text.append("")
            told: list[str] = []
            for tool in members:
                when = tool.prompt_usage[: _lines_of_when(tool)]
                rest = tool.prompt_usage[len(when) + bool(when) :]
                path = f"references/{module_name(tool.name)}.md"
                more = f" ([more]({path}))" if rest else ""
                text.append(f"{tool.prompt_line}{more}")
                if when:
                    told += ["", f"### {tool.name}", *when]
                if rest:
                    references[path] = _lines([f"# {tool.name}", "", *rest])
            text += told
            if section.footer:
                text += ["", section.footer]
        return Skill(self._front_matter, {_MAIN: _lines(text), **references})


def _said(tool: Tool) -> Mapping[str, Any]:
    """What a tool's definition says for its skills alone."""
    said: Mapping[str, Any] = tool.parts.get("skills", {})
    return said


def _lines_of_when(tool: Tool) -> int:
    """How many lines of its usage say when to choose a tool: the first paragraph's, if not said."""
    first = len(list(takewhile(bool, tool.prompt_usage)))
    lines: int = _said(tool).get("when_lines", first)
    return lines


def _of_tool(tool: Tool) -> str:
    # Its bullet has the summary as Markdown.
    summary = (tool.prompt_line or "").partition("**: ")[2]
    text = [front_matter(_said(tool)["own"]), "", f"# {tool.name}", "", summary]
    if tool.prompt_usage:
        text += ["", *tool.prompt_usage]
    return _lines(text)


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

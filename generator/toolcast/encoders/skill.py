"""The files of a skill, as the runtime puts them together of texts that are encoded already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from toolcast_runtime.skills.skill_files import (
    SkillFile,
    SkillSection,
    SkillTool,
    tool_files,
    toolset_files,
)

from .code import Code
from .markdown import comment

__all__ = [
    "SkillFile",
    "SkillSection",
    "SkillTool",
    "signed",
    "skill_of",
    "skill_of_tool",
]


def skill_of(
    front: Mapping[str, Any],
    title: Code,
    guidance: Code,
    sections: Sequence[SkillSection],
) -> dict[str, SkillFile]:
    """The files of a toolset's skill by their paths; the head is encoded here.

    Raises:
        NotEncoded: another text is plain.
    """
    _refuse_plain([title, guidance])
    for section in sections:
        _refuse_plain([section.heading, section.intro, section.footer])
        for tool in section.tools:
            _refuse_plain([tool.name, tool.line, *tool.usage])
    return toolset_files(front, title, guidance, sections)


def skill_of_tool(front: Mapping[str, Any], tool: SkillTool) -> dict[str, SkillFile]:
    """The files of a tool's skill, likewise.

    Raises:
        NotEncoded: a text of the tool's is plain.
    """
    _refuse_plain([tool.name, tool.line, *tool.usage])
    return tool_files(front, tool)


def signed(file: SkillFile, signature: str) -> Code:
    """A file with who made it: in its head, or else in a comment above it.

    Raises:
        ValueError: the signature is not what a comment can hold.
    """
    words, mark = comment(signature), "---\n"
    if file.text.startswith(mark):
        return Code(f"{mark}# {signature}\n{file.text[len(mark):]}")
    return Code(f"{words}\n{file.text}")


def _refuse_plain(texts: Iterable[str]) -> None:
    for text in texts:
        Code.escape(text)

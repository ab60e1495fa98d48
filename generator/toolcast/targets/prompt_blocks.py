"""The Markdown blocks of the system prompt, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.markdown import block, inline, span
from ..model.model import Actions, Section, Toolset, ToolSpec
from ..rendering.output_guard import MarkdownShape

__all__ = [
    "SectionView",
    "ToolDocsView",
    "section_view",
    "sections_of",
    "tool_docs",
]


class ToolDocsView(NamedTuple):
    """One tool in the prompt docs."""

    name: Code
    bullet: Code
    has_body: bool
    body: Code


class SectionView(NamedTuple):
    """One section with its tools."""

    name: str
    heading: Code
    label: Code
    has_intro: bool
    intro: Code
    tools: Sequence[ToolDocsView]
    has_footer: bool
    footer: Code
    shape: MarkdownShape


def tool_docs(tool: ToolSpec) -> ToolDocsView:
    """The bullet and the paragraphs of a tool."""
    parts = [block(text) for text in (tool.when_to_use, tool.guidance) if text]
    if tool.actions:
        parts.append(_actions(tool.actions))
    return ToolDocsView(
        Code(tool.name),
        Code(f"- **{tool.name}**: {inline(tool.summary)}"),
        bool(parts),
        Code("\n\n".join(parts)),
    )


def _actions(actions: Actions) -> Code:
    """What each action requires, one bullet each."""
    rows = []
    for action in actions.values:
        needs = [str(span(name)) for name in action.requires]
        if action.requires_any:
            needs.append("one of " + ", ".join(map(span, action.requires_any)))
        text = f"- {span(action.name)}"
        if action.summary:
            text += f": {inline(action.summary)}"
        if needs:
            text += f" Requires {' and '.join(needs)}."
        rows.append(text)
    return Code("\n".join([f"What {span(actions.parameter)} can be:", "", *rows]))


def sections_of(
    toolset: Toolset, tools: Sequence[ToolSpec]
) -> list[tuple[Section, list[ToolSpec]]]:
    """The sections that have tools, in declared order; last, tools without a section."""
    grouped: dict[str, list[ToolSpec]] = {s.name: [] for s in toolset.sections}
    rest: list[ToolSpec] = []
    for tool in tools:
        grouped.get(tool.section or "", rest).append(tool)
    sections = [(section, grouped[section.name]) for section in toolset.sections]
    sections.append((Section("tools", toolset.title, "Tools"), rest))
    return [(section, members) for section, members in sections if members]


def section_view(section: Section, tools: Sequence[ToolSpec]) -> SectionView:
    """A section with the docs of its tools."""
    return SectionView(
        section.name,
        inline(section.heading),
        inline(section.label),
        bool(section.intro),
        block(section.intro),
        [tool_docs(tool) for tool in tools],
        bool(section.footer),
        block(section.footer),
        MarkdownShape(
            (
                f"## {inline(section.heading)}",
                *(f"### {tool.name}" for tool in tools),
            )
        ),
    )

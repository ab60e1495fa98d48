"""The Markdown blocks of the system prompt, as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from ..rendering.shape import MarkdownShape
from ..spec.model import Actions, Section, Toolset, ToolSpec
from ..text.code import Code
from ..text.markdown import block, inline, span
from .target import Results

__all__ = ["SectionView", "ToolDocsView", "sections_of", "tool_docs"]


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
    texts: Sequence[str]
    has_footer: bool
    footer: Code
    shape: MarkdownShape

    @property
    def tools(self) -> list[ToolDocsView]:
        """The docs of the section's tools."""
        return [_docs(text) for text in self.texts]


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


def docs_text(tool: ToolSpec) -> str:
    """A tool's docs as JSON text."""
    docs = tool_docs(tool)
    return json.dumps([docs.name, docs.bullet, docs.has_body, docs.body])


def _docs(text: str) -> ToolDocsView:
    name, bullet, has_body, body = json.loads(text)
    return ToolDocsView(Code(name), Code(bullet), has_body, Code(body))


def sections_of(
    toolset: Toolset, tools: Sequence[ToolSpec], results: Results
) -> list[SectionView]:
    """The sections that have tools, in declared order; last, tools without a section."""
    grouped = [
        (section, [tool for tool in tools if tool.section == section.name])
        for section in toolset.sections
    ]
    names = {section.name for section in toolset.sections}
    rest = [tool for tool in tools if tool.section not in names]
    grouped.append((Section("tools", toolset.title, "Tools"), rest))
    return [
        _section(section, members, results) for section, members in grouped if members
    ]


def _section(
    section: Section, tools: Sequence[ToolSpec], results: Results
) -> SectionView:
    texts = [
        results.of_tool(tool, "prompt docs", partial(docs_text, tool)) for tool in tools
    ]
    return SectionView(
        section.name,
        inline(section.heading),
        inline(section.label),
        bool(section.intro),
        block(section.intro),
        texts,
        bool(section.footer),
        block(section.footer),
        MarkdownShape(
            (
                f"## {inline(section.heading)}",
                *(f"### {tool.name}" for tool in tools),
            )
        ),
    )

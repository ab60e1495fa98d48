"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolcast_runtime.tools.module_names import module_name

from ..encoders.code import Code
from ..encoders.markdown import block, inline
from ..encoders.python import literal, names
from ..facts.prompt_docs import sections_of, tool_line, usage_lines
from ..model.model import Section, Toolset, ToolSpec
from ..rendering.output_shape import MarkdownShape, PythonShape
from .cli import cli_texts
from .target import Context, Target, header, markdown_header

__all__ = ["TARGET"]


class ToolView(NamedTuple):
    """One tool in the prompt docs."""

    name: Code
    bullet: Code
    usage: Sequence[Code]


class SectionView(NamedTuple):
    """One section with its tools."""

    header: Code
    heading: Code
    label: Code
    has_intro: bool
    intro: Code
    tools: Sequence[ToolView]
    explained: Sequence[ToolView]
    has_footer: bool
    footer: Code
    shape: MarkdownShape


class PreambleView(NamedTuple):
    """The short list near the top of the prompt."""

    header: Code
    heading: Code
    has_intro: bool
    intro: Code
    sections: Sequence[SectionView]
    shape: MarkdownShape


class DeclaredSectionView(NamedTuple):
    """What the module knows of a section; its texts are Python literals of Markdown."""

    name: Code
    heading: Code
    label: Code
    intro: Code
    footer: Code


class CliView(NamedTuple):
    """What the module knows of the CLI block, likewise."""

    program: Code
    heading: Code
    intro: Code
    closing: Code
    client: Code


class PromptsView(NamedTuple):
    """The module that hands the blocks out."""

    header: Code
    imported: Code
    heading: Code
    intro: Code
    has_sections: bool
    sections: Sequence[DeclaredSectionView]
    has_cli: bool
    cli: CliView | None
    shape: PythonShape = PythonShape(
        (
            "docstring",
            "from __future__",
            "from toolcast_runtime.prompts",
            "from ..registry",
            "PROMPTS =",
            "section =",
            "preamble =",
            "guidance =",
            "cli_block =",
        ),
        frozenset(["CliBlock", "Prompts", "Section"]),
    )


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`prompts/`: the Markdown blocks and the module that hands them out."""
    top = markdown_header(toolset)
    views = {
        section.name: _section(section, tools, top)
        for section, tools in sections_of(toolset)
    }
    files = {
        f"prompts/section_{module_name(name)}.md": context.render(
            "prompts/section.md.jinja", view
        )
        for name, view in views.items()
    }
    heading = inline(toolset.preamble_heading)
    preamble = PreambleView(
        header=top,
        heading=heading,
        has_intro=bool(toolset.preamble_intro),
        intro=block(toolset.preamble_intro),
        sections=list(views.values()),
        shape=MarkdownShape((f"## {heading}",)),
    )
    module = _module(toolset, context)
    return {
        **files,
        "prompts/preamble.md": context.render("prompts/preamble.md.jinja", preamble),
        "prompts/__init__.py": context.render("prompts/prompts.py.jinja", module),
    }


def _section(section: Section, tools: Sequence[ToolSpec], top: Code) -> SectionView:
    heading = inline(section.heading)
    shown = [
        ToolView(inline(tool.name), tool_line(tool), usage_lines(tool))
        for tool in tools
    ]
    explained = [view for view in shown if view.usage]
    return SectionView(
        header=top,
        heading=heading,
        label=inline(section.label),
        has_intro=bool(section.intro),
        intro=block(section.intro),
        tools=shown,
        explained=explained,
        has_footer=bool(section.footer),
        footer=block(section.footer),
        shape=MarkdownShape(
            (f"## {heading}", *(f"### {view.name}" for view in explained))
        ),
    )


def _module(toolset: Toolset, context: Context) -> PromptsView:
    has_cli = "cli" in context.targets
    sections = [_declared(section) for section, _ in sections_of(toolset)]
    used = {"CliBlock": has_cli, "Prompts": True, "Section": bool(sections)}
    return PromptsView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        imported=names([name for name, is_used in used.items() if is_used]),
        heading=_text(inline(toolset.preamble_heading), "    heading="),
        intro=_text(block(toolset.preamble_intro), "    intro="),
        has_sections=bool(sections),
        sections=sections,
        has_cli=has_cli,
        cli=_cli(toolset, context) if has_cli else None,
    )


def _declared(section: Section) -> DeclaredSectionView:
    inner = " " * 12
    return DeclaredSectionView(
        name=literal(section.name, inner, ","),
        heading=_text(inline(section.heading), f"{inner}heading="),
        label=_text(inline(section.label), f"{inner}label="),
        intro=_text(block(section.intro), f"{inner}intro="),
        footer=_text(block(section.footer), f"{inner}footer="),
    )


def _cli(toolset: Toolset, context: Context) -> CliView:
    texts = cli_texts(toolset, context)
    inner = " " * 8
    client = toolset.targets.get("cli", {}).get("client")
    return CliView(
        program=_text(texts.program, f"{inner}program="),
        heading=_text(texts.heading, f"{inner}heading="),
        intro=_text(texts.intro, f"{inner}intro="),
        closing=literal(tuple(map(str, texts.closing)), f"{inner}closing=", ","),
        client=literal(client, f"{inner}client=", ","),
    )


def _text(markdown: Code, before: str) -> Code:
    """Finished Markdown as a Python literal."""
    return literal(str(markdown), before, ",")


TARGET = Target(
    name="prompts",
    needs=("registry",),
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    generate=generate,
)

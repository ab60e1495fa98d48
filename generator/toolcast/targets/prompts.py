"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from toolcast_runtime.core.definitions.tool import module_name

from ..analysis.cli_commands import cli_texts
from ..analysis.prompt_docs import sections_of, tool_line, usage_lines
from ..encoders.code import Code
from ..encoders.markdown import block, inline
from ..encoders.python import literal, names
from ..model.model import Section, Toolset, ToolSpec
from ..rendering.output_shape import MarkdownShape, PythonShape, View
from .target import Context, Target, header, markdown_header, package_of

_SHAPE = PythonShape(
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
    preamble = View(
        MarkdownShape((f"## {heading}",)),
        header=top,
        heading=heading,
        intro=block(toolset.preamble_intro),
        sections=list(views.values()),
    )
    module = _module(toolset, context)
    return {
        **files,
        "prompts/preamble.md": context.render("prompts/preamble.md.jinja", preamble),
        "prompts/__init__.py": context.render("prompts/prompts.py.jinja", module),
    }


def _section(section: Section, tools: Sequence[ToolSpec], top: Code) -> View:
    heading = inline(section.heading)
    shown = [
        View(
            name=inline(tool.name),
            bullet=tool_line(tool),
            usage=list(usage_lines(tool)),
        )
        for tool in tools
    ]
    explained = [view for view in shown if view.usage]
    return View(
        MarkdownShape((f"## {heading}", *(f"### {view.name}" for view in explained))),
        header=top,
        heading=heading,
        label=inline(section.label),
        intro=block(section.intro),
        tools=shown,
        explained=explained,
        footer=block(section.footer),
    )


def _module(toolset: Toolset, context: Context) -> View:
    has_cli = "cli" in context.targets
    sections = [_declared(section) for section, _ in sections_of(toolset)]
    used = {"CliBlock": has_cli, "Prompts": True, "Section": bool(sections)}
    return View(
        _SHAPE,
        header=header(f"{toolset.folder}/toolset.yaml"),
        imported=names([name for name, is_used in used.items() if is_used]),
        heading=_text(inline(toolset.preamble_heading), "    heading="),
        intro=_text(block(toolset.preamble_intro), "    intro="),
        sections=sections,
        cli=_cli(toolset, context) if has_cli else None,
    )


def _declared(section: Section) -> View:
    inner = " " * 12
    return View(
        name=literal(section.name, inner, ","),
        heading=_text(inline(section.heading), f"{inner}heading="),
        label=_text(inline(section.label), f"{inner}label="),
        intro=_text(block(section.intro), f"{inner}intro="),
        footer=_text(block(section.footer), f"{inner}footer="),
    )


def _cli(toolset: Toolset, context: Context) -> View:
    texts = cli_texts(toolset, package_of(context, toolset))
    inner = " " * 8
    client = toolset.targets.get("cli", {}).get("client")
    return View(
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

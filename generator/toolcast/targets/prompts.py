"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ..output.kept import Output
from ..rendering.shape import MarkdownShape, PythonShape
from ..spec.model import Toolset
from ..text.code import Code
from ..text.layout import Entry, Group, Text
from ..text.markdown import block, inline
from ..text.names import module_name
from ..text.python import code_of, string
from .prompt_blocks import SectionView, sections_of
from .target import Context, Target, header

__all__ = ["TARGET", "section_file"]


@dataclass(frozen=True)
class PreambleView:
    """The short list near the top of the prompt."""

    heading: Code
    has_intro: bool
    intro: Code
    sections: Sequence[SectionView]
    shape: MarkdownShape


@dataclass(frozen=True)
class PromptsView:
    """The module that hands the blocks out."""

    header: Code
    name: Code
    files: Code
    shape: PythonShape = PythonShape(
        (
            *("docstring", "from __future__", "from pathlib", "SECTIONS:"),
            *("def section", "def preamble", "def cli_block", "def _read"),
        ),
        frozenset(["_read", "Path", "Call.read_text", "BinOp.read_text"]),
    )


def section_file(section: str) -> str:
    """The file of a section's block."""
    return f"section_{module_name(section)}.md"


def cast(toolset: Toolset, context: Context) -> Mapping[str, Output]:
    """`prompts/`: the Markdown blocks and the module that hands them out."""
    results = context.results
    sections = sections_of(toolset, toolset.tools_in("prompts"), results)
    files: dict[str, Output] = {}
    for section in sections:
        path = f"prompts/{section_file(section.name)}"
        draw = partial(context.render, "prompts/section.md.jinja", section)
        files[path] = results.file(path, section.key, draw)
    names = [section.name for section in sections]
    files["prompts/preamble.md"] = results.file(
        "prompts/preamble.md",
        [names, [section.key for section in sections]],
        partial(_preamble, toolset, sections, context),
    )
    files["prompts/__init__.py"] = results.file(
        "prompts/__init__.py", names, partial(_module, toolset, names, context)
    )
    return files


def _preamble(
    toolset: Toolset, sections: Sequence[SectionView], context: Context
) -> bytes:
    preamble = PreambleView(
        inline(toolset.preamble_heading),
        bool(toolset.preamble_intro),
        block(toolset.preamble_intro),
        sections,
        MarkdownShape((f"## {inline(toolset.preamble_heading)}",)),
    )
    return context.render("prompts/preamble.md.jinja", preamble)


def _module(toolset: Toolset, names: Sequence[str], context: Context) -> bytes:
    table = Group(
        "{",
        [
            Entry(f"{string(name)}: ", Text(string(section_file(name))))
            for name in names
        ],
        "}",
    )
    view = PromptsView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        code_of(table, 0, "SECTIONS: dict[str, str] = "),
    )
    return context.render("prompts/prompts.py.jinja", view)


TARGET = Target(
    name="prompts",
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    cast=cast,
    reads=frozenset(
        ["name", "summary", "when_to_use", "guidance", "section", "order", "actions"]
    ),
)

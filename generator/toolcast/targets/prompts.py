"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`prompts/`: the Markdown blocks and the module that hands them out."""
    sections = sections_of(toolset, toolset.tools_in("prompts"))
    files = {
        f"prompts/{section_file(section.name)}": context.render(
            "prompts/section.md.jinja", section
        )
        for section in sections
    }
    preamble = PreambleView(
        inline(toolset.preamble_heading),
        bool(toolset.preamble_intro),
        block(toolset.preamble_intro),
        sections,
        MarkdownShape((f"## {inline(toolset.preamble_heading)}",)),
    )
    files["prompts/preamble.md"] = context.render("prompts/preamble.md.jinja", preamble)
    table = Group(
        "{",
        [
            Entry(f"{string(s.name)}: ", Text(string(section_file(s.name))))
            for s in sections
        ],
        "}",
    )
    view = PromptsView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        code_of(table, 0, "SECTIONS: dict[str, str] = "),
    )
    files["prompts/__init__.py"] = context.render("prompts/prompts.py.jinja", view)
    return files


TARGET = Target(
    name="prompts",
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    cast=cast,
    reads=frozenset(
        ["name", "summary", "when_to_use", "guidance", "section", "order", "actions"]
    ),
)

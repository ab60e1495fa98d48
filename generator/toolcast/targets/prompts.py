"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..encoders.code import Code
from ..encoders.layout import Entry, Expression, Group, Text
from ..encoders.markdown import block, inline
from ..encoders.names import module_name
from ..encoders.python import call, code_of, encode, keyword_argument, string, tuple_of
from ..facts.cli_commands import cli_commands
from ..model.model import Toolset
from ..rendering.output_guard import MarkdownShape, PythonShape
from .cli import block_tools
from .prompt_blocks import SectionView, section_view, sections_of
from .target import Context, Target, header

__all__ = ["TARGET", "section_file"]

Views = Sequence[SectionView]


class PreambleView(NamedTuple):
    """The short list near the top of the prompt."""

    heading: Code
    has_intro: bool
    intro: Code
    sections: Sequence[SectionView]
    shape: MarkdownShape


class PromptsView(NamedTuple):
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


class ClientPromptsView(NamedTuple):
    """The module that hands the blocks out to clients."""

    header: Code
    name: Code
    files: Code
    docs: Code
    shape: PythonShape = PythonShape(
        (
            *("docstring", "from __future__", "from toolcast_runtime.prompts.blocks"),
            *("from ..registry", "SECTIONS:", "DOCS ="),
            *("section =", "preamble =", "cli_block ="),
        ),
        frozenset(["PromptDocs", "PromptSection", "PromptTool"]),
    )


def section_file(section: str) -> str:
    """The file of a section's block."""
    return f"section_{module_name(section)}.md"


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`prompts/`: the Markdown blocks and the module that hands them out."""
    sections = sections_of(toolset, toolset.tools_in("prompts"))
    views = [section_view(*section) for section in sections]
    template = "prompts/section.md.jinja"
    files = {
        f"prompts/{section_file(view.name)}": context.render(template, view)
        for view in views
    }
    files["prompts/preamble.md"] = _preamble(toolset, views, context)
    files["prompts/__init__.py"] = _module(toolset, views, context)
    return files


def _preamble(toolset: Toolset, sections: Views, context: Context) -> bytes:
    view = PreambleView(
        inline(toolset.preamble_heading),
        bool(toolset.preamble_intro),
        block(toolset.preamble_intro),
        sections,
        MarkdownShape((f"## {inline(toolset.preamble_heading)}",)),
    )
    return context.render("prompts/preamble.md.jinja", view)


def _module(toolset: Toolset, sections: Views, context: Context) -> bytes:
    about = _about(toolset, sections)
    if not toolset.clients:
        return context.render("prompts/prompts.py.jinja", PromptsView(*about))
    docs = code_of(_docs(toolset, sections, context), 0, "DOCS = ")
    template = "prompts/prompts_by_client.py.jinja"
    return context.render(template, ClientPromptsView(*about, docs))


def _about(toolset: Toolset, sections: Views) -> tuple[Code, Code, Code]:
    """What both modules begin with."""
    table = Group(
        "{",
        [
            Entry(f"{string(s.name)}: ", Text(string(section_file(s.name))))
            for s in sections
        ],
        "}",
    )
    return (
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        code_of(table, 0, "SECTIONS: dict[str, str] = "),
    )


def _docs(
    toolset: Toolset,
    sections: Views,
    context: Context,
) -> Expression:
    given: list[Expression] = [
        Text("REGISTRY"),
        Text("__file__"),
        keyword_argument("heading", _text(inline(toolset.preamble_heading))),
        keyword_argument("intro", _text(block(toolset.preamble_intro))),
        keyword_argument(
            "sections",
            Group(
                "{", [Entry(f"{string(s.name)}: ", _section(s)) for s in sections], "}"
            ),
        ),
    ]
    if "cli" in context.targets:
        client = toolset.targets.get("cli", {}).get("client")
        given.append(keyword_argument("cli_client", encode(client)))
        lines = {
            tool.name: [command.line for command in cli_commands(toolset, [tool])]
            for tool in block_tools(toolset, context)
            if tool.cli is not None
        }
        given.append(keyword_argument("cli_lines", encode(lines)))
    return call("PromptDocs", given)


def _section(section: SectionView) -> Expression:
    tools = (
        call(
            "PromptTool",
            [
                _text(tool.name),
                _text(tool.bullet),
                *([_text(tool.body)] if tool.has_body else []),
            ],
        )
        for tool in section.tools
    )
    given: list[Expression] = [
        Text(string(section_file(section.name))),
        keyword_argument("heading", _text(section.heading)),
        keyword_argument("label", _text(section.label)),
        keyword_argument("tools", tuple_of(tools)),
    ]
    if section.has_intro:
        given.append(keyword_argument("intro", _text(section.intro)))
    if section.has_footer:
        given.append(keyword_argument("footer", _text(section.footer)))
    return call("PromptSection", given)


def _text(markdown: Code) -> Expression:
    return encode(str(markdown))


TARGET = Target(
    name="prompts",
    reads_toolset=frozenset(["preamble"]),
    needs=("registry",),
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    cast=cast,
    reads=frozenset(
        [
            *("name", "summary", "when_to_use", "guidance", "section", "order"),
            *("actions", "clients"),
        ]
    ),
)

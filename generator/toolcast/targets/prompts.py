"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

from ..output.kept import Output
from ..rendering.shape import MarkdownShape, PythonShape
from ..spec.model import Section, Toolset, ToolSpec
from ..text.code import Code
from ..text.layout import Entry, Expression, Group, Text
from ..text.markdown import block, inline
from ..text.names import module_name
from ..text.python import (
    call,
    code_of,
    encode,
    keyword_argument,
    string,
    tuple_of,
)
from .across import ACCESS, SECTION
from .cli_rows import CliTool, cli_block_tools, cli_piece, cli_tools
from .prompt_blocks import PROMPT_DOCS, SectionView, section_view, sections_of
from .target import Context, Target, header

__all__ = ["TARGET", "section_file"]

Sections = Sequence[tuple[Section, Sequence[ToolSpec]]]


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
            *("docstring", "from __future__", "from ..._runtime.prompt_docs"),
            *("from ..registry", "SECTIONS:", "DOCS ="),
            *("section =", "preamble =", "cli_block ="),
        ),
        frozenset(["PromptDocs", "PromptSection", "PromptTool"]),
    )


def section_file(section: str) -> str:
    """The file of a section's block."""
    return f"section_{module_name(section)}.md"


def cast(toolset: Toolset, context: Context) -> Mapping[str, Output]:
    """`prompts/`: the Markdown blocks and the module that hands them out."""
    results, tools = context.results, toolset.tools_in("prompts")
    sections = sections_of(toolset, tools, results)
    files: dict[str, Output] = {}
    for section, members in sections:
        path = f"prompts/{section_file(section.name)}"
        draw = partial(_block, path, section, members, context)
        files |= results.files(path, members, (PROMPT_DOCS,), draw)
    preamble = partial(_preamble, toolset, sections, context)
    files |= results.files("preamble", tools, (PROMPT_DOCS, SECTION), preamble)
    if toolset.clients:
        pieces = (PROMPT_DOCS, SECTION, ACCESS, cli_piece(toolset))
        module = partial(_module_by_client, toolset, sections, context)
        files |= results.files("prompts", toolset.tools, pieces, module)
    else:
        module = partial(_module, toolset, sections, context)
        files |= results.files("prompts", tools, (SECTION,), module)
    return files


def _block(
    path: str, section: Section, tools: Sequence[ToolSpec], context: Context
) -> Mapping[str, bytes]:
    view = section_view(section, tools, context.results)
    return {path: context.render("prompts/section.md.jinja", view)}


def _preamble(
    toolset: Toolset, sections: Sections, context: Context
) -> Mapping[str, bytes]:
    preamble = PreambleView(
        inline(toolset.preamble_heading),
        bool(toolset.preamble_intro),
        block(toolset.preamble_intro),
        _views(sections, context),
        MarkdownShape((f"## {inline(toolset.preamble_heading)}",)),
    )
    text = context.render("prompts/preamble.md.jinja", preamble)
    return {"prompts/preamble.md": text}


def _views(sections: Sections, context: Context) -> list[SectionView]:
    return [section_view(*section, context.results) for section in sections]


def _module(
    toolset: Toolset, sections: Sections, context: Context
) -> Mapping[str, bytes]:
    view = PromptsView(*_about(toolset, sections))
    return {"prompts/__init__.py": context.render("prompts/prompts.py.jinja", view)}


def _module_by_client(
    toolset: Toolset, sections: Sections, context: Context
) -> Mapping[str, bytes]:
    shown = cli_block_tools(toolset, context)
    rows = cli_tools(toolset, shown, context.results)
    docs = _docs(toolset, _views(sections, context), rows, context)
    view = ClientPromptsView(*_about(toolset, sections), code_of(docs, 0, "DOCS = "))
    template = "prompts/prompts_by_client.py.jinja"
    return {"prompts/__init__.py": context.render(template, view)}


def _about(toolset: Toolset, sections: Sections) -> tuple[Code, Code, Code]:
    """What both modules begin with."""
    table = Group(
        "{",
        [
            Entry(f"{string(s.name)}: ", Text(string(section_file(s.name))))
            for s, _ in sections
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
    sections: Sequence[SectionView],
    rows: Sequence[CliTool],
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
        lines = {tool.name: [row.line for row in tool.rows] for tool in rows}
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
    needs=("registry",),
    runtime=("prompt_docs",),
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    cast=cast,
    piecewise=True,
    reads=frozenset(
        [
            *("name", "summary", "when_to_use", "guidance", "section", "order"),
            *("actions", "clients"),
        ]
    ),
)

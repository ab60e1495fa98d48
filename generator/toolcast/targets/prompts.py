"""The system-prompt docs of a toolset: a block a section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping

from toolcast_runtime.prompts import CliBlock, PromptBlocks, Section

from ..analysis.prompt_docs import sections_of
from ..encoders.code import Code
from ..encoders.python import encode_literal, join_identifiers
from ..model.model import Toolset
from ..rendering.output_shape import PythonShape, View
from .prompt_blocks import PromptDocs
from .target import Context, Target, encode_header

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
    """`prompts/`: the Markdown blocks and the module that composes them for a client."""
    docs = PromptDocs(toolset, context)
    module = _module(toolset, docs.composer)
    return {
        **docs.files(),
        "prompts/__init__.py": context.render("prompts/prompts.py.jinja", module),
    }


def _module(toolset: Toolset, composer: PromptBlocks) -> View:
    declared = {section.name for section, _ in sections_of(toolset)}
    sections = [
        _section(section)
        for section in composer.sections.values()
        if section.name in declared
    ]
    used = {
        "CliBlock": composer.cli is not None,
        "Prompts": True,
        "Section": bool(sections),
    }
    return View(
        _SHAPE,
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        imported=join_identifiers([name for name, is_used in used.items() if is_used]),
        **_around(composer, "    "),
        sections=sections,
        cli=None if composer.cli is None else _cli(composer.cli),
    )


def _section(section: Section) -> View:
    inner = " " * 12
    return View(
        name=encode_literal(section.name, inner, ","),
        label=encode_literal(section.label, f"{inner}label=", ","),
        **_around(section, inner),
    )


def _cli(block: CliBlock) -> View:
    inner = " " * 8
    return View(
        program=encode_literal(block.program, f"{inner}program=", ","),
        client=encode_literal(block.client, f"{inner}client=", ","),
        **_around(block, inner),
    )


def _around(piece: PromptBlocks | Section | CliBlock, inner: str) -> dict[str, Code]:
    return {
        "before": encode_literal(piece.before, f"{inner}before=", ","),
        "after": encode_literal(piece.after, f"{inner}after=", ","),
    }


TARGET = Target(
    name="prompts",
    needs=("registry",),
    purpose="The docs of the system prompt: a block a section, and the preamble.",
    generate=generate,
)

"""The target `prompts`: system prompt text, one block per section, and the preamble."""

from __future__ import annotations

from collections.abc import Mapping

from toolcast_runtime.prompts import CliBlock, PromptBlocks, Section

from ..analysis.prompt_docs import group_tools_by_section
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
    """Return the Markdown files and the Python module in `prompts/`, by path."""
    docs = PromptDocs(toolset, context)
    module = _build_module_view(toolset, docs.composer)
    return {
        **docs.files(),
        "prompts/__init__.py": context.render("prompts/prompts.py.jinja", module),
    }


def _build_module_view(toolset: Toolset, composer: PromptBlocks) -> View:
    # The composer also has a section for tools without a declared section, which the runtime
    # adds itself.
    declared = {section.name for section, _ in group_tools_by_section(toolset)}
    sections = [
        _build_section_view(section)
        for section in composer.sections.values()
        if section.name in declared
    ]
    # The generated module imports only the classes that it uses.
    used = {
        "CliBlock": composer.cli is not None,
        "Prompts": True,
        "Section": bool(sections),
    }
    return View(
        _SHAPE,
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        imported_names=join_identifiers(
            [name for name, is_used in used.items() if is_used]
        ),
        **_encode_frame(composer, "    "),
        sections=sections,
        cli=None if composer.cli is None else _build_cli_view(composer.cli),
    )


def _build_section_view(section: Section) -> View:
    indent = " " * 12
    return View(
        name=encode_literal(section.name, indent, ","),
        label=encode_literal(section.label, f"{indent}label=", ","),
        **_encode_frame(section, indent),
    )


def _build_cli_view(block: CliBlock) -> View:
    indent = " " * 8
    return View(
        program=encode_literal(block.program, f"{indent}program=", ","),
        client=encode_literal(block.client, f"{indent}client=", ","),
        **_encode_frame(block, indent),
    )


def _encode_frame(
    piece: PromptBlocks | Section | CliBlock, indent: str
) -> dict[str, Code]:
    """Encode the text before and after the tools as `before` and `after` arguments."""
    return {
        "before": encode_literal(piece.before, f"{indent}before=", ","),
        "after": encode_literal(piece.after, f"{indent}after=", ","),
    }


TARGET = Target(
    name="prompts",
    needs=("registry",),
    purpose="Tools in the system prompt: a preamble and a block per section.",
    generate=generate,
)

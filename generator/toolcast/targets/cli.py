"""The command line of a toolset, and the CLI block of the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcast_runtime.rooms.prompts import command_rows

from ..analysis.cli_commands import cli_commands, cli_program, cli_texts
from ..analysis.prompt_docs import comment_of
from ..encoders.markdown import row
from ..encoders.python import literal, optional, words
from ..model.model import Toolset, ToolSpec
from ..rendering.output_shape import MarkdownShape, PythonShape, View
from .target import Context, Target, header, markdown_header, package_of

_SHAPE = PythonShape(
    (
        "docstring",
        "from __future__",
        "from toolcast_runtime.cli",
        "from .registry",
        "KEYWORDS =",
        "main =",
        "if __name__",
    ),
    frozenset(["command_line", "keywords", "main"]),
)


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`cli.py` and `prompts/cli.md`."""
    client = _options(toolset).get("client")
    package = package_of(context, toolset)
    view = View(
        _SHAPE,
        header=header(f"{toolset.folder}/toolset.yaml"),
        package=words(package),
        program=literal(cli_program(toolset, package), "    program=", ","),
        title=literal(toolset.title, "    title=", ","),
        client=optional(client, "    client=", ","),
    )
    shown = _block(toolset, context)
    return {
        "cli.py": context.render("cli/cli.py.jinja", view),
        "prompts/cli.md": context.render("cli/cli_block.md.jinja", shown),
    }


def _options(toolset: Toolset) -> Mapping[str, Any]:
    return toolset.targets.get("cli", {})


def _block(toolset: Toolset, context: Context) -> View:
    texts = cli_texts(toolset, package_of(context, toolset))
    program = str(texts.program)
    rows = [
        row(text)
        for command in cli_commands(toolset, _block_tools(toolset))
        for text in command_rows(program, command.line, str(comment_of(command)))
    ]
    return View(
        MarkdownShape((f"## {texts.heading}",) if texts.heading else ()),
        header=markdown_header(toolset),
        heading=texts.heading,
        intro=texts.intro,
        rows=rows,
        closing=texts.closing,
    )


def _block_tools(toolset: Toolset) -> Sequence[ToolSpec]:
    """What the CLI block shows: the tools that the command line's client may have."""
    name = _options(toolset).get("client")
    client = toolset.client(name) if name is not None else None
    tools = toolset.tools_in("cli")
    if client is None:
        return tools
    return [tool for tool in tools if toolset.is_offered(tool, client)]


def _left_out(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Why a tool has no command."""
    return tool.cli.reason if tool.cli and tool.cli.keyword is None else None


TARGET = Target(
    name="cli",
    purpose="Commands of a shell, and the CLI block of the prompt.",
    generate=generate,
    needs=("registry",),
    left_out=_left_out,
)

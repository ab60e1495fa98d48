"""The target `cli`: the command line of a toolset, and the CLI block of the prompt."""

from __future__ import annotations

from collections.abc import Mapping

from ..analysis.cli_commands import get_cli_program
from ..encoders.code import Code
from ..encoders.python import (
    encode_literal,
    encode_optional,
    encode_safe_text,
    encode_unbroken_string,
)
from ..model.model import Toolset, ToolSpec
from ..rendering.output_shape import PythonShape, View
from .prompt_blocks import PromptDocs
from .target import Context, Target, encode_header, get_package_name

_SHAPE = PythonShape(
    (
        "docstring",
        "from __future__",
        "from toolcast_runtime.cli",
        "from .registry",
        "KEYWORDS:",
        "main =",
        "if __name__",
    ),
    frozenset(["command_line", "main"]),
)


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """Return the files `cli.py` and `prompts/cli.md`, by path."""
    client = toolset.targets.get("cli", {}).get("client")
    package = get_package_name(context, toolset)
    view = View(
        _SHAPE,
        header=encode_header(f"{toolset.folder}/toolset.yaml"),
        package=encode_safe_text(package),
        program=encode_literal(get_cli_program(toolset, package), "    program=", ","),
        title=encode_literal(toolset.title, "    title=", ","),
        client=encode_optional(client, "    client=", ","),
        keywords=[
            View(name=encode_unbroken_string(tool.name), keyword=_encode_keyword(tool))
            for tool in toolset.tools
        ],
    )
    return {
        "cli.py": context.render("cli/cli.py.jinja", view),
        "prompts/cli.md": PromptDocs(toolset, context).cli_file(),
    }


def _encode_keyword(tool: ToolSpec) -> Code:
    """Encode a tool's command name as a string literal; `None` without a command."""
    keyword = tool.cli.keyword if tool.cli else None
    return encode_literal(None) if keyword is None else encode_unbroken_string(keyword)


def _find_omission_reason(toolset: Toolset, tool: ToolSpec) -> str | None:
    """Return the reason why a tool has no command; None if it has one."""
    return tool.cli.reason if tool.cli and tool.cli.keyword is None else None


TARGET = Target(
    name="cli",
    purpose="Shell commands, and the CLI block of the system prompt.",
    generate=generate,
    needs=("registry",),
    omission_reason=_find_omission_reason,
)

"""Snapshot fixtures of a toolset, and the tests that hold the live outputs against them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..rendering.shape import PythonShape
from ..spec.model import Toolset, ToolSpec
from ..text.code import Code
from ..text.json_text import compact, pretty
from ..text.layout import Expression, Text
from ..text.names import module_name
from ..text.python import code_of, encode, literal, string, tuple_of
from . import cli, prompts
from .cli_commands import cli_commands
from .mcp_definition import mcp_definition
from .prompt_blocks import tool_docs
from .target import Context, Target, header

__all__ = ["TARGET"]


@dataclass(frozen=True)
class TestsView:
    """The test module."""

    header: Code
    name: Code
    fixtures: Code
    settings: Code
    has_mcp: bool
    has_langchain: bool
    has_cli: bool
    has_prompts: bool
    has_gone_names: bool
    shape: PythonShape = PythonShape(
        (
            *(
                "docstring",
                "from __future__",
                "Import",
                "from .._runtime.snapshot_checks",
                "FIXTURES:",
                "CLIENTS:",
            ),
            *("GONE_NAMES:", "SECTIONS:", "EXCLUDED:", "CHECKS =", "def test_*"),
        ),
        frozenset(
            [
                "SnapshotChecks",
                "CHECKS.*",
                "pytest.mark.parametrize",
                "pytest.importorskip",
            ]
        ),
    )


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`snapshots/` and `test_snapshots.py`."""
    files: dict[str, bytes] = {}
    for target, cast_one in (
        ("registry", _openai),
        ("mcp", _mcp),
        ("langchain", _langchain),
        ("cli", _cli),
        ("prompts", _prompts),
    ):
        if target in context.targets:
            for path, text in cast_one(toolset, context, toolset.tools_in(target)):
                files[f"snapshots/{path}"] = text.encode("utf-8")
    for blocks in (prompts.TARGET, cli.TARGET):
        if blocks.name in context.targets:
            for path, data in blocks.cast(toolset, context).items():
                if path.endswith(".md"):
                    files[path.replace("prompts/", "snapshots/blocks/", 1)] = data
    fixtures = {tool.name: module_name(tool.name) for tool in toolset.tools}
    view = TestsView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        literal(fixtures, 0, "FIXTURES: dict[str, str] = "),
        _settings(toolset),
        "mcp" in context.targets,
        "langchain" in context.targets,
        "cli" in context.targets,
        "prompts" in context.targets,
        bool(_gone_names(toolset)),
    )
    template = "snapshots/test_snapshots.py.jinja"
    files["test_snapshots.py"] = context.render(template, view)
    return files


def _settings(toolset: Toolset) -> Code:
    """What the tests know besides the fixtures, as assignments."""
    clients: list[Expression] = [
        tuple_of([encode(client.name), encode(module_name(client.name))])
        for client in toolset.clients
    ] or [tuple_of([encode(None), encode("everyone")])]
    excluded: dict[str, dict[str, str]] = {}
    for exclusion in toolset.exclusions:
        excluded.setdefault(exclusion.target, {})[exclusion.tool] = exclusion.reason
    gone = _gone_names(toolset)
    sections: dict[str, list[str]] = {}
    for tool in toolset.tools_in("prompts"):
        sections.setdefault(_section_of(toolset, tool), []).append(tool.name)
    return Code(
        "\n".join(
            [
                "# Each client with its fixture of `tools/list`.",
                code_of(
                    tuple_of(clients),
                    0,
                    "CLIENTS: tuple[tuple[str | None, str], ...] = ",
                ),
                code_of(
                    tuple_of(Text(string(name)) for name in gone),
                    0,
                    "GONE_NAMES: tuple[str, ...] = ",
                ),
                literal(sections, 0, "SECTIONS: dict[str, list[str]] = "),
                literal(excluded, 0, "EXCLUDED: dict[str, dict[str, str]] = "),
            ]
        )
    )


def _gone_names(toolset: Toolset) -> list[str]:
    former = [name for tool in toolset.tools for name in tool.renamed_from]
    return [*former, *toolset.reserved_names]


def _section_of(toolset: Toolset, tool: ToolSpec) -> str:
    names = {section.name for section in toolset.sections}
    return tool.section if tool.section in names and tool.section else "tools"


Fixtures = Iterator[tuple[str, str]]


def _mcp(toolset: Toolset, context: Context, tools: Sequence[ToolSpec]) -> Fixtures:
    for tool in tools:
        yield f"mcp/{module_name(tool.name)}.json", pretty(mcp_definition(tool))
    offered: dict[str, list[Any]] = {}
    for client in toolset.clients:
        offered[f"tools_list/{module_name(client.name)}.json"] = [
            mcp_definition(tool) for tool in tools if toolset.is_offered(tool, client)
        ]
    if not toolset.clients:
        offered["tools_list/everyone.json"] = [mcp_definition(tool) for tool in tools]
    for path, definitions in offered.items():
        yield path, compact(definitions) + "\n"


def _openai(toolset: Toolset, context: Context, tools: Sequence[ToolSpec]) -> Fixtures:
    for tool in tools:
        function = {
            "name": tool.name,
            "description": tool.model_description,
            "parameters": tool.parameters,
        }
        shown = {"type": "function", "function": function}
        yield f"openai/{module_name(tool.name)}.json", pretty(shown)


def _langchain(
    toolset: Toolset, context: Context, tools: Sequence[ToolSpec]
) -> Fixtures:
    for tool in tools:
        shown = {
            "name": tool.name,
            "description": tool.model_description,
            "args_schema": tool.parameters,
        }
        yield f"langchain/{module_name(tool.name)}.json", pretty(shown)


def _cli(toolset: Toolset, context: Context, tools: Sequence[ToolSpec]) -> Fixtures:
    program = cli.program_of(toolset, context)
    commands = list(cli_commands(toolset, tools))
    for tool in tools:
        own = [command for command in commands if command.tool is tool]
        shown: dict[str, Any] = {
            "keyword": tool.cli.keyword if tool.cli else None,
            "reason": tool.cli.reason if tool.cli else None,
            "commands": [command.words for command in own],
            "lines": [f"{program} {command.line}" for command in own],
        }
        if shown["keyword"] is not None:
            del shown["reason"]
        yield f"cli/{module_name(tool.name)}.json", pretty(shown)


def _prompts(toolset: Toolset, context: Context, tools: Sequence[ToolSpec]) -> Fixtures:
    for tool in tools:
        docs = tool_docs(tool)
        text = f"{docs.bullet}\n\n### {docs.name}\n"
        if docs.has_body:
            text += f"{docs.body}\n"
        yield f"prompts/{module_name(tool.name)}.md", text


TARGET = Target(
    name="snapshots",
    purpose="A fixture a tool a surface, and the tests that hold live outputs to them.",
    cast=cast,
    reads=frozenset(["name", "summary", "description", "parameters", "cli"]),
    needs=("registry",),
    runtime=("snapshot_checks",),
)

"""Snapshot fixtures of a toolset, and the tests that hold the live outputs against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ..encoders.code import Code
from ..encoders.json_text import compact, pretty
from ..encoders.layout import Expression, Text
from ..encoders.names import module_name
from ..encoders.python import code_of, encode, literal, string, tuple_of
from ..facts.cli_commands import cli_commands
from ..facts.mcp_definition import mcp_definition
from ..model.model import Toolset, ToolSpec
from ..rendering.output_guard import PythonShape
from . import cli, prompts
from .prompt_blocks import tool_docs
from .target import Context, Target, header

__all__ = ["TARGET"]


class TestsView(NamedTuple):
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
                "from toolcast_runtime.testing.snapshots",
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
    program = cli.program_of(toolset, context)
    for target, folder, ending, draw in (
        ("registry", "openai", "json", _openai),
        ("mcp", "mcp", "json", _mcp),
        ("langchain", "langchain", "json", _langchain),
        ("cli", "cli", "json", partial(_cli, toolset, program)),
        ("prompts", "prompts", "md", _prompts),
    ):
        if target in context.targets:
            files |= {
                _path(folder, ending, tool): draw(tool).encode("utf-8")
                for tool in toolset.tools_in(target)
            }
    if "mcp" in context.targets:
        files |= _tools_lists(toolset)
    for blocks in (prompts.TARGET, cli.TARGET):
        if blocks.name in context.targets:
            for path, data in blocks.cast(toolset, context).items():
                if path.endswith(".md"):
                    files[path.replace("prompts/", "snapshots/blocks/", 1)] = data
    return {**files, **_tests(toolset, context)}


def _path(folder: str, ending: str, tool: ToolSpec) -> str:
    return f"snapshots/{folder}/{module_name(tool.name)}.{ending}"


def _tests(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
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
    return {"test_snapshots.py": context.render(template, view)}


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


def _mcp(tool: ToolSpec) -> str:
    return pretty(mcp_definition(tool))


def _tools_lists(toolset: Toolset) -> Mapping[str, bytes]:
    """Each client's `tools/list`."""
    tools = toolset.tools_in("mcp")
    shown: dict[str, Sequence[ToolSpec]] = {
        module_name(client.name): [t for t in tools if toolset.is_offered(t, client)]
        for client in toolset.clients
    }
    return {
        f"snapshots/tools_list/{name}.json": _tools_list(listed)
        for name, listed in (shown or {"everyone": tools}).items()
    }


def _tools_list(tools: Sequence[ToolSpec]) -> bytes:
    listed = ",".join(compact(mcp_definition(tool)) for tool in tools)
    return f"[{listed}]\n".encode()


def _openai(tool: ToolSpec) -> str:
    function = {
        "name": tool.name,
        "description": tool.model_description,
        "parameters": tool.parameters,
    }
    return pretty({"type": "function", "function": function})


def _langchain(tool: ToolSpec) -> str:
    shown = {
        "name": tool.name,
        "description": tool.model_description,
        "args_schema": tool.parameters,
    }
    return pretty(shown)


def _cli(toolset: Toolset, program: str, tool: ToolSpec) -> str:
    own = list(cli_commands(toolset, [tool]))
    name = toolset.targets.get("cli", {}).get("client")
    client = toolset.client(name) if name is not None else None
    shown_in_block = client is None or toolset.is_offered(tool, client)
    shown: dict[str, Any] = {
        "keyword": tool.cli.keyword if tool.cli else None,
        "reason": tool.cli.reason if tool.cli else None,
        "commands": [command.words for command in own],
        "lines": [f"{program} {command.line}" for command in own if shown_in_block],
    }
    if shown["keyword"] is not None:
        del shown["reason"]
    return pretty(shown)


def _prompts(tool: ToolSpec) -> str:
    docs = tool_docs(tool)
    text = f"{docs.bullet}\n\n### {docs.name}\n"
    if docs.has_body:
        text += f"{docs.body}\n"
    return text


TARGET = Target(
    name="snapshots",
    purpose="A fixture a tool a surface, and the tests that hold live outputs to them.",
    cast=cast,
    reads=frozenset(["name", "summary", "description", "parameters", "cli"]),
    needs=("registry",),
)

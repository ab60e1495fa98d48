"""Render the pieces of a toolset's prompt blocks; the runtime composes the blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from toolcast_runtime.core.definitions.tool import PromptPieces, Tool, module_name
from toolcast_runtime.prompts import CliBlock, PromptBlocks, Section

from ..analysis.cli_commands import build_cli_definition, render_cli_texts
from ..analysis.prompt_docs import group_tools_by_section, render_usage_lines
from ..analysis.token_costs import PromptTexts
from ..encoders.code import Code
from ..encoders.markdown import SLOT, compose_blocks, encode_block, encode_inline
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client, omit_none
from ..rendering.output_shape import MarkdownShape, OutputShapeError, View
from .target import Context, encode_markdown_header, get_package_name, template_folders

_BULLET = "prompts/tool_bullet.md.jinja"
_USAGE = "prompts/tool_usage.md.jinja"
_LABEL = "prompts/section_label.md.jinja"
_SECTION = "prompts/section_frame.md.jinja"
_PREAMBLE = "prompts/preamble_frame.md.jinja"
_CLI = "cli/cli_frame.md.jinja"
_TEMPLATES = (_PREAMBLE, _SECTION, _LABEL, _BULLET, _USAGE)


def render_tool_pieces(tool: ToolSpec, context: Context) -> dict[str, list[str]]:
    """Return the lines of a tool's bullet and usage text for its JSON definition.

    The keys are `bullet`, `before`, `usage` and `after`; empty frame lines are left out.
    """
    name = encode_inline(tool.name)
    shape = MarkdownShape((), names=(name,))
    bullet = View(shape, name=name, summary=encode_inline(tool.summary))
    usage = View(MarkdownShape((f"### {name}",)), name=name, usage=SLOT)
    before, after = _render_frame(context, _USAGE, usage)
    return omit_none(
        bullet=_render_lines(context, _BULLET, bullet),
        before=before or None,
        usage=[str(line) for line in render_usage_lines(tool)],
        after=after or None,
    )


def _render_lines(context: Context, template: str, view: View) -> list[str]:
    text = context.render(template, view).decode("utf-8")
    return text.removesuffix("\n").split("\n") if text else []


def _join_lines(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _render_frame(
    context: Context, template: str, view: View
) -> tuple[list[str], list[str]]:
    """Return the lines that a frame template prints above and below the placeholder.

    The placeholder `SLOT` marks the line at which the runtime inserts tools.

    Raises:
        TemplateRenderError: the template does not print the slot once, on a line of its own.
    """
    lines = _render_lines(context, template, view)
    if lines.count(SLOT) != 1 or "".join(lines).count(SLOT) != 1:
        # Import Jinja only for this error: the import takes longer than a whole
        # `toolcast check` that renders no template.
        from ..rendering.renderer import TemplateRenderError

        [name] = (key for key, value in vars(view).items() if value is SLOT)
        reason = f"`{{{{ view.{name} }}}}` must be printed once, on a line of its own"
        raise TemplateRenderError(reason, template)
    position = lines.index(SLOT)
    return lines[:position], lines[position + 1 :]


class PromptDocs:
    """The prompt blocks of a toolset, for any of its clients.

    Templates are rendered on first use, once for all clients.
    """

    def __init__(self, toolset: Toolset, context: Context) -> None:
        self._toolset = toolset
        self._context = context
        # The context of `build_prompt_docs` has no targets; then use those of the toolset.
        self._targets = context.targets or tuple(toolset.targets)

    @cached_property
    def composer(self) -> PromptBlocks:
        """The runtime's composer with the toolset's rendered frames.

        The CLI block is included only if the target `cli` is enabled.
        """
        toolset, context = self._toolset, self._context
        heading = encode_inline(toolset.preamble_heading)
        view = View(
            MarkdownShape((f"## {heading}",)),
            heading=heading,
            intro=encode_block(toolset.preamble_intro),
            sections=SLOT,
        )
        before, after = _render_frame(context, _PREAMBLE, view)
        has_cli = "cli" in self._targets
        return PromptBlocks(
            before=_join_lines(before),
            after=_join_lines(after),
            sections=list(self._sections()),
            cli=self.cli if has_cli else None,
        )

    def _sections(self) -> Iterator[Section]:
        """Yield each section that has tools, with the rendered lines around its tools."""
        for section, _ in group_tools_by_section(self._toolset):
            heading = encode_inline(section.heading)
            view = View(
                MarkdownShape((f"## {heading}",)),
                heading=heading,
                intro=encode_block(section.intro),
                footer=encode_block(section.footer),
                tools=SLOT,
            )
            before, after = _render_frame(self._context, _SECTION, view)
            label = encode_inline(section.label)
            shape = MarkdownShape((), names=(label,))
            label_lines = _render_lines(self._context, _LABEL, View(shape, label=label))
            texts = map(_join_lines, (before, after, label_lines))
            yield Section(section.name, *texts)

    @cached_property
    def cli(self) -> CliBlock:
        """The frame of the CLI block."""
        toolset = self._toolset
        texts = render_cli_texts(toolset, get_package_name(self._context, toolset))
        view = View(
            MarkdownShape(tuple(self._cli_headings)),
            heading=texts.heading,
            intro=texts.intro,
            commands=SLOT,
            closing=texts.closing,
        )
        before, after = _render_frame(self._context, _CLI, view)
        client = toolset.targets.get("cli", {}).get("client")
        return CliBlock(
            str(texts.program), _join_lines(before), _join_lines(after), client
        )

    @cached_property
    def _runtime_tools(self) -> Mapping[str, Tool]:
        """The runtime's tool objects with rendered prompt pieces, by tool name."""
        return {
            tool.name: _build_runtime_tool(
                tool, prompt=PromptPieces(**render_tool_pieces(tool, self._context))
            )
            for tool in self._toolset.tools
        }

    def _list_tools(self, client: Client | None) -> list[Tool]:
        """Return the tools in a client's preamble and sections; None means all tools."""
        tools = self._toolset.list_target_tools("prompts")
        return [
            self._runtime_tools[tool.name]
            for tool in tools
            if self._is_available(client, tool)
        ]

    def _list_commands(self, client: Client | None) -> list[Tool]:
        """Return the tools in the CLI block of a client.

        None means `targets.cli.client`; without that setting, all tools are returned.
        """
        toolset = self._toolset
        name = toolset.targets.get("cli", {}).get("client")
        if client is None and name is not None:
            client = toolset.find_client(name)
        return [
            _build_runtime_tool(tool, cli=build_cli_definition(toolset, tool))
            for tool in toolset.list_target_tools("cli")
            if self._is_available(client, tool)
        ]

    def _is_available(self, client: Client | None, tool: ToolSpec) -> bool:
        return client is None or self._toolset.is_offered(tool, client)

    def texts(self, client: Client | None) -> PromptTexts:
        """Return the prompt blocks of a client, and the text of every tool.

        None as the client includes all tools. Without the target `prompts`, there are no
        blocks.
        """
        blocks: Mapping[str, str] = {}
        if "prompts" in self._targets:
            commands = self._list_commands(client) if "cli" in self._targets else ()
            blocks = self.composer.compose(self._list_tools(client), commands)
        return PromptTexts(blocks, self.tool_texts)

    @cached_property
    def tool_texts(self) -> Mapping[str, str]:
        """The bullet lines and usage lines of each tool as one string, by tool name."""
        return {
            name: "\n".join([*pieces.bullet, *pieces.usage])
            for name, tool in self._runtime_tools.items()
            if (pieces := tool.prompt)
        }

    def files(self) -> dict[str, bytes]:
        """Return the Markdown files of the preamble and the sections, by path.

        They contain all tools of the target `prompts`, for any client.
        """
        header = encode_markdown_header(self._toolset)
        blocks = compose_blocks(header, self.composer, self._list_tools(None))
        headings = {"preamble": [f"## {encode_inline(self._toolset.preamble_heading)}"]}
        for section, tools in group_tools_by_section(self._toolset):
            headings[f"section_{module_name(section.name)}"] = [
                f"## {encode_inline(section.heading)}",
                *(
                    f"### {encode_inline(tool.name)}"
                    for tool in tools
                    if render_usage_lines(tool)
                ),
            ]
        return {
            f"prompts/{name}.md": self._write(name, blocks, block_headings)
            for name, block_headings in headings.items()
        }

    def cli_file(self) -> bytes:
        """Return the file of the CLI block, with the tools of the command line's client."""
        cli = PromptBlocks(cli=self.cli)
        header = encode_markdown_header(self._toolset)
        blocks = compose_blocks(header, cli, cli_tools=self._list_commands(None))
        return self._write("cli", blocks, self._cli_headings)

    def _write(
        self, name: str, blocks: Mapping[str, Code], headings: Sequence[str]
    ) -> bytes:
        shape = MarkdownShape(tuple(headings), names=self._names)
        path = f"prompts/{name}.md"
        # If the project replaces one of these templates, the file may contain its words.
        templates = (_CLI,) if name == "cli" else _TEMPLATES
        return self._context.write(path, blocks[name], shape, templates)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The section labels and tool names, which project templates may use in headings."""
        labels = [
            encode_inline(section.label)
            for section, _ in group_tools_by_section(self._toolset)
        ]
        return (*labels, *(encode_inline(tool.name) for tool in self._toolset.tools))

    @cached_property
    def _cli_headings(self) -> Sequence[str]:
        heading = self._toolset.targets.get("cli", {}).get("heading")
        return (f"## {encode_inline(heading)}",) if heading else ()


def _build_runtime_tool(tool: ToolSpec, **parts: Any) -> Tool:
    """Return a runtime tool with only the fields that the prompt composer reads."""
    return Tool(tool.name, tool.summary, "", {}, section=tool.section, **parts)


def build_prompt_docs(workspace: Workspace, toolset: Toolset) -> PromptDocs:
    """Return the prompt blocks of a toolset, with the project's own templates."""
    folders = template_folders(workspace)
    context = Context(
        templates=folders, own_templates=folders, package=workspace.package
    )
    return PromptDocs(toolset, context)


def find_block_texts(workspace: Workspace, toolset: Toolset) -> Mapping[str, str]:
    """Return the text of each prompt block with all tools, by block name.

    If a template of the project fails, the result is empty: rendering the generated files
    reports that error.
    """
    from ..rendering.renderer import TemplateRenderError

    try:
        return build_prompt_docs(workspace, toolset).texts(None).blocks
    except (TemplateRenderError, OutputShapeError):
        return {}

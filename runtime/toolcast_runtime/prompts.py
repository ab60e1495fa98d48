"""Composition of the prompt blocks of a toolset from rendered pieces.

A piece consists of complete lines of Markdown that the generator's templates rendered. The pieces of
tools are in their definitions; those of sections, the preamble and the CLI block are in the generated
package. Only this module joins pieces: the generator calls `PromptBlocks` for the committed files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .core.definitions.tool import Tool, module_name

if TYPE_CHECKING:
    from .core.registry import Registry

__all__ = ["CliBlock", "Prompts", "Section"]

_WITHOUT_SECTION = "tools"
_COMMENT_COLUMN = 50
"""Column of comments; it is fixed, so that no row depends on another command's length."""
_WIDTH = 120
"""Maximum length of a row."""
# HTML elements that hide or change the rest of a rendered page. Other names in angle brackets, such
# as `<name>`, have no effect.
_HTML_ELEMENT = re.compile(
    r"<(applet|audio|body|canvas|colgroup|datalist|details|dialog|form|frame|frameset"
    r"|head|html|iframe|listing|math|meter|noembed|noframes|noscript|object|optgroup|option"
    r"|picture|plaintext|pre|progress|rp|script|select|style|svg|table|tbody|td|template"
    r"|textarea|tfoot|th|thead|title|tr|video|xmp)>",
    re.IGNORECASE,
)
_MARKUP_START = re.compile(r"<(?=[!?])")


@dataclass(frozen=True, slots=True)
class Section:
    """Rendered pieces of a section.

    Attributes:
        name: the name that definitions use. The section `tools` also has the tools without one.
        before: the lines of its block above the tools.
        after: the lines of its block below the tools.
        label: the lines above its tools in the preamble.
    """

    name: str
    before: str = ""
    after: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class CliBlock:
    """Rendered pieces of the block that lists the commands.

    Attributes:
        program: what a user types before each command.
        before: the lines above the commands.
        after: the lines below the commands.
        client: the client whose commands are shown by default.
    """

    program: str
    before: str = ""
    after: str = ""
    client: str | None = None


class PromptBlocks:
    """Composer of prompt blocks from a toolset's pieces and the pieces of its tools.

    Args:
        before: the lines of the preamble above its sections.
        after: the lines of the preamble below its sections.
        sections: the sections in the declared order.
        cli: the CLI block; None without a command line.
    """

    def __init__(
        self,
        *,
        before: str = "",
        after: str = "",
        sections: Iterable[Section] = (),
        cli: CliBlock | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.cli = cli
        self.sections = {section.name: section for section in sections}
        # The section `tools`, which contains tools without a section, always exists.
        self.sections.setdefault(_WITHOUT_SECTION, Section(_WITHOUT_SECTION))

    def group(self, tools: Iterable[Tool]) -> Iterator[tuple[Section, list[Tool]]]:
        """Yield the sections of the documented tools in declared order, with their tools."""
        members: dict[str, list[Tool]] = {}
        for tool in tools:
            if _is_documented(tool):
                name = tool.section or _WITHOUT_SECTION
                name = name if name in self.sections else _WITHOUT_SECTION
                members.setdefault(name, []).append(tool)
        for section in self.sections.values():
            if section.name in members:
                yield section, members[section.name]

    def section(self, name: str, tools: Iterable[Tool]) -> str:
        """Return the block of one section; "" when none of the tools is in it."""
        for section, members in self.group(tools):
            if section.name == name:
                return _compose_section(section, members)
        return ""

    def preamble(self, tools: Iterable[Tool]) -> str:
        """Return the preamble: a bullet for each documented tool, grouped by section."""
        sections = [
            f"\n{section.label}{_compose_bullets(members)}"
            for section, members in self.group(tools)
        ]
        return f"{self.before}{''.join(sections)}{self.after}"

    def guidance(self, tools: Iterable[Tool]) -> str:
        """Return the usage texts of the documented tools, one after another; "" if none."""
        usages = map(_compose_usage, filter(_is_documented, tools))
        return "\n".join(filter(None, usages))

    def cli_block(self, tools: Iterable[Tool]) -> str:
        """Return the CLI block with the commands of the tools.

        Raises:
            LookupError: the toolset has no command line.
        """
        if self.cli is None:
            raise LookupError("the toolset has no command line")
        commands = [
            row
            for tool in tools
            if tool.is_in("cli") and tool.cli is not None
            for line in tool.cli.get("lines", ())
            for row in command_rows(
                self.cli.program, line["line"], line.get("comment", tool.summary)
            )
        ]
        return f"{self.cli.before}{_join(commands)}{self.cli.after}"

    def compose(
        self, tools: Sequence[Tool], cli_tools: Iterable[Tool]
    ) -> dict[str, str]:
        """Return every block by the name of its file without `.md`.

        Args:
            tools: the tools of the preamble and the sections.
            cli_tools: the tools of the CLI block.
        """
        blocks = {"preamble": self.preamble(tools)}
        for section, members in self.group(tools):
            name = f"section_{module_name(section.name)}"
            blocks[name] = _compose_section(section, members)
        if self.cli is not None:
            blocks["cli"] = self.cli_block(cli_tools)
        return blocks


def _is_documented(tool: Tool) -> bool:
    return tool.prompt is not None and tool.is_in("prompts")


def _compose_section(section: Section, tools: Sequence[Tool]) -> str:
    usages = [f"\n{usage}" for usage in map(_compose_usage, tools) if usage]
    return f"{section.before}{_compose_bullets(tools)}{''.join(usages)}{section.after}"


def _compose_bullets(tools: Iterable[Tool]) -> str:
    return _join(row for tool in tools if tool.prompt for row in tool.prompt.bullet)


def _compose_usage(tool: Tool) -> str:
    prompt = tool.prompt
    if prompt is None or not prompt.usage:
        return ""
    return _join([*prompt.before, *prompt.usage, *prompt.after])


def _join(rows: Iterable[str]) -> str:
    return "".join(f"{row}\n" for row in rows)


class Prompts:
    """Prompt blocks of a registry's tools for each client.

    A method that accepts a client raises `UnknownClientError` where the toolset has no such
    client, and `AccessError` where access cannot be resolved.

    Args:
        registry: the tools, and their access rules.
        before: the lines of the preamble above its sections.
        after: the lines of the preamble below its sections.
        sections: the sections in the declared order.
        cli: the CLI block; None without a command line.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        before: str = "",
        after: str = "",
        sections: Iterable[Section] = (),
        cli: CliBlock | None = None,
    ) -> None:
        self._registry = registry
        self._blocks = PromptBlocks(
            before=before, after=after, sections=sections, cli=cli
        )

    @property
    def registry(self) -> Registry:
        """The tools, and their access rules."""
        return self._registry

    def group_tools(
        self, tools: Iterable[Tool]
    ) -> Iterator[tuple[Section, list[Tool]]]:
        """Yield the sections of the documented tools in declared order, with their tools."""
        return self._blocks.group(tools)

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of the sections that have tools, in the declared order."""
        return tuple(section.name for section, _ in self.group_tools(self._local_tools))

    @property
    def _local_tools(self) -> Sequence[Tool]:
        return self._registry.local_tools

    def section(self, name: str, client: str | None = None) -> str:
        """Return the block of one section with the client's tools; "" without such a tool.

        Raises:
            KeyError: the toolset has no section of that name.
        """
        sections = self._blocks.sections
        if name not in sections:
            names = ", ".join(f"`{section}`" for section in sections)
            raise KeyError(f"unknown section `{name}`; help: use one of {names}")
        return self._blocks.section(name, self._registry.tools(client))

    def preamble(self, client: str | None = None) -> str:
        """Return the short list of the client's tools, for the top of the prompt."""
        return self._blocks.preamble(self._registry.tools(client))

    def guidance(self, names: Iterable[str], client: str | None = None) -> str:
        """Return the usage texts of named tools, for a request that offers only these.

        Tools without such a text, for example those of external servers, and tools that the
        client may not have are omitted.

        Args:
            names: the names that `route_tools` returned; previous names are resolved.
            client: the client that is served.

        Returns:
            The heading and the text of each tool in the declared order; "" when there is none.
        """
        current_names = {self._registry.resolve(name) for name in names}
        tools = self._registry.tools(client)
        return self._blocks.guidance(
            tool for tool in tools if tool.name in current_names
        )

    def cli_block(self, client: str | None = None) -> str:
        """Return the prompt block with the shell commands that a client may run.

        Args:
            client: default: the client in `targets.cli`, whose tools the commands call.

        Raises:
            LookupError: the toolset has no command line.
        """
        cli = self._blocks.cli
        if client is None and cli is not None:
            client = cli.client
        return self._blocks.cli_block(self._registry.tools(client))

    def files(self) -> dict[str, str]:
        """Return the whole toolset's blocks by the names of their files, without signatures.

        An administrator's override does not change them. The CLI block is that of the command
        line's client, where the toolset declares one.
        """
        tools = self._local_tools
        cli = self._blocks.cli
        cli_tools = tools
        if cli is not None and cli.client is not None:
            access = self._registry.declared_access
            cli_tools = [
                tool for tool in tools if access.is_allowed(cli.client, tool.name)
            ]
        blocks = self._blocks.compose(tools, cli_tools)
        return {f"{name}.md": text for name, text in blocks.items()}


def command_rows(program: str, line: str, comment: str) -> list[str]:
    """Return the lines of a command with its comment, next to it or below a long command.

    A row has at most 120 columns unless a single word is longer. A long command continues after
    a backslash, a long comment in further rows.

    Args:
        program: the text before the command.
        line: the command. A parameter with the name of an HTML element that would hide the
            rest of a page is written in capitals, without brackets.
        comment: the comment, on one line.
    """
    escaped = _HTML_ELEMENT.sub(lambda match: match[1].upper(), line)
    escaped = _MARKUP_START.sub(r"\<", escaped)
    words = f"{program} {escaped}".split(" ")
    # Reserve two columns for the backslash that continues a long command.
    command = _fill_rows(words, "  ", "      ", _WIDTH - 2)
    rows = [f"{row} \\" for row in command[:-1]] + command[-1:]
    margin = " " * _COMMENT_COLUMN
    indent = f"{margin}# "
    words = comment.split()
    comments = _fill_rows(words, indent, indent, _WIDTH) if words else []
    if comments and len(rows) == 1 and len(rows[0]) <= _COMMENT_COLUMN - 2:
        first_comment = comments[0].removeprefix(margin)
        return [rows[0].ljust(_COMMENT_COLUMN) + first_comment, *comments[1:]]
    return rows + comments


def _fill_rows(
    words: list[str], first_indent: str, indent: str, width: int
) -> list[str]:
    """Return words in rows of at most `width` characters, with their indents."""
    rows = [first_indent + words[0]]
    for word in words[1:]:
        if len(rows[-1]) + 1 + len(word) <= width:
            rows[-1] += f" {word}"
        else:
            rows.append(indent + word)
    return rows

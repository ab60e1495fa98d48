"""The docs of a toolset's tools for system prompts, for each client its own tools alone.

Every text is finished Markdown: the tools' stand in their definitions, those of sections and of
the whole are given by the generated package. The same pieces, put together for the whole
toolset, are the `.md` files beside the package.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..core.definitions.tool import Tool, module_name

if TYPE_CHECKING:
    from ..core.registry import Registry

_WITHOUT_SECTION = "tools"
_COMMENT_COLUMN = 50
"""Where comments begin, so that no command's row depends on another command's length."""
_WIDTH = 120
# Of `<title>` a browser makes an element that swallows the rest of a rendered page; so it
# does of these. Other names in such brackets hide nothing.
_SWALLOWS = re.compile(
    r"<(applet|audio|body|canvas|colgroup|datalist|details|dialog|form|frame|frameset"
    r"|head|html|iframe|listing|math|meter|noembed|noframes|noscript|object|optgroup|option"
    r"|picture|plaintext|pre|progress|rp|script|select|style|svg|table|tbody|td|template"
    r"|textarea|tfoot|th|thead|title|tr|video|xmp)>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<(?=[!?])")


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the docs; texts are Markdown, "" where there is none.

    Attributes:
        name: what definitions call it. The section `tools` also has the tools without one.
        heading: the heading of its block.
        label: its name in the preamble; the heading when it is empty.
        intro: stands below the heading.
        footer: stands at the end.
    """

    name: str
    heading: str
    label: str = ""
    intro: str = ""
    footer: str = ""


@dataclass(frozen=True, slots=True)
class CliBlock:
    """What the block of commands says beside the commands; "" where there is no text.

    Attributes:
        program: what is typed before each command.
        heading: its heading.
        intro: stands below the heading.
        closing: the lines at the end.
        client: the client whose commands are shown when none is asked for.
    """

    program: str
    heading: str = ""
    intro: str = ""
    closing: Sequence[str] = ()
    client: str | None = None


class Prompts:
    """The blocks of a toolset.

    What names a client raises `UnknownClientError` where the toolset has no such client, and
    `AccessError` where who may have which tool cannot be found out.

    Args:
        registry: has the tools and says who may have which.
        heading: the preamble's.
        intro: the preamble's.
        sections: in the declared order.
        cli: the CLI block; None without one.
    """

    def __init__(
        self,
        registry: Registry,
        *,
        heading: str,
        intro: str = "",
        sections: Sequence[Section] = (),
        cli: CliBlock | None = None,
    ) -> None:
        self._registry = registry
        self._heading = heading
        self._intro = intro
        self._cli = cli
        self._sections = {section.name: section for section in sections}
        self._sections.setdefault(_WITHOUT_SECTION, Section(_WITHOUT_SECTION, "Tools"))

    @property
    def registry(self) -> Registry:
        """Has the tools, and says who may have which."""
        return self._registry

    def grouped(self, tools: Iterable[Tool]) -> Iterator[tuple[Section, list[Tool]]]:
        """The sections that have some of the tools, in the declared order, each with those."""
        members: dict[str, list[Tool]] = {}
        for tool in tools:
            if _is_in(tool):
                members.setdefault(self._section_of(tool), []).append(tool)
        for section in self._sections.values():
            if section.name in members:
                yield section, members[section.name]

    @property
    def sections(self) -> tuple[str, ...]:
        """The names of the sections that have tools, in the declared order."""
        used = {self._section_of(t) for t in self._registry.local_tools if _is_in(t)}
        return tuple(name for name in self._sections if name in used)

    def section(self, name: str, client: str | None = None) -> str:
        """The block of one section with the client's tools; "" when it has none there.

        Raises:
            KeyError: there is no section of that name.
        """
        if name not in self._sections:
            known = ", ".join(f"`{one}`" for one in self._sections)
            raise KeyError(f"there is no section `{name}`; there are {known}")
        return self._section(self._sections[name], self._registry.tools(client))

    def preamble(self, client: str | None = None) -> str:
        """The short list of the client's tools, for the top of the prompt."""
        return self._preamble(self._registry.tools(client))

    def guidance(self, names: Iterable[str], client: str | None = None) -> str:
        """When and how to use the named tools, for a request that offers these alone.

        Tools without such a text, of external servers for one, and tools that the client
        may not have are left out.

        Args:
            names: as `route_tools` gives them; former names are understood.
            client: who is served.

        Returns:
            A heading and the text of each, in the declared order; "" when there is none.
        """
        wanted = {self._registry.resolve(name) for name in names}
        tools = self._registry.tools(client)
        return "\n".join(
            _usage(tool)
            for tool in tools
            if tool.name in wanted and _is_in(tool) and tool.prompt_usage
        )

    def cli_block(self, client: str | None = None) -> str:
        """The commands of a client, for agents without MCP.

        Args:
            client: None for the client that the command line acts as.

        Raises:
            LookupError: the toolset has no command line.
        """
        if self._cli is None:
            raise LookupError("the toolset has no command line")
        who = self._cli.client if client is None else client
        return self._cli_block(self._cli, self._registry.tools(who))

    def files(self) -> dict[str, str]:
        """The whole toolset's blocks by the names of their files, without signatures.

        No administrator's change touches them. The CLI block is that of the command line's
        client, where there is one.
        """
        tools = self._registry.local_tools
        files = {
            f"section_{module_name(name)}.md": self._section(
                self._sections[name], tools
            )
            for name in self.sections
        }
        files["preamble.md"] = self._preamble(tools)
        if self._cli is not None:
            client = self._cli.client
            if client is not None:
                access = self._registry.declared_access
                tools = tuple(t for t in tools if access.may_have(client, t.name))
            files["cli.md"] = self._cli_block(self._cli, tools)
        return files

    def _section_of(self, tool: Tool) -> str:
        section = tool.section
        return section if section in self._sections and section else _WITHOUT_SECTION

    def _section(self, section: Section, tools: Iterable[Tool]) -> str:
        members = [
            t for t in tools if _is_in(t) and self._section_of(t) == section.name
        ]
        if not members:
            return ""
        parts = [f"## {section.heading}\n"]
        if section.intro:
            parts.append(f"{section.intro}\n")
        parts.append("".join(f"{tool.prompt_line}\n" for tool in members))
        parts += [_usage(tool) for tool in members if tool.prompt_usage]
        if section.footer:
            parts.append(f"{section.footer}\n")
        return "\n".join(parts)

    def _preamble(self, tools: Sequence[Tool]) -> str:
        parts = [f"## {self._heading}\n"]
        if self._intro:
            parts.append(f"{self._intro}\n")
        for section, members in self.grouped(tools):
            lines = "".join(f"{tool.prompt_line}\n" for tool in members)
            parts.append(f"**{section.label or section.heading}**\n{lines}")
        return "\n".join(parts)

    def _cli_block(self, block: CliBlock, tools: Iterable[Tool]) -> str:
        head = f"## {block.heading}\n\n" if block.heading else ""
        intro = f"{block.intro}\n" if block.intro else ""
        rows = [
            row
            for tool in tools
            if tool.is_in("cli") and tool.cli is not None
            for line in tool.cli.get("lines", ())
            for row in command_rows(
                block.program, line["line"], line.get("comment", tool.summary)
            )
        ]
        closing = "".join(f"{line}\n" for line in block.closing)
        body = "".join(f"{row}\n" for row in rows)
        return f"{head}{intro}{body}" + (f"\n{closing}" if closing else "")


def _usage(tool: Tool) -> str:
    """When and how to use a tool, below its name."""
    return f"### {tool.name}\n" + "".join(f"{line}\n" for line in tool.prompt_usage)


def _is_in(tool: Tool) -> bool:
    """Whether the docs tell of a tool."""
    return tool.prompt_line is not None and tool.is_in("prompts")


def command_rows(program: str, line: str, comment: str) -> list[str]:
    """A command with its comment beside it, or below it when the command is long.

    The generator writes the same rows into files. No row is wider than 120 columns unless a
    single word is: a long command goes on behind a backslash, a long comment in further ones.

    Args:
        program: what is typed before the command.
        line: the command. A parameter that is called as an element of HTML that swallows
            what follows stands in capitals, without brackets.
        comment: what is said about it, on one line.
    """
    shown = _SWALLOWS.sub(lambda found: found[1].upper(), line)
    shown = _COMMENT.sub(r"\<", shown)
    typed = _wrapped(f"{program} {shown}".split(" "), "  ", "      ", _WIDTH - 2)
    rows = [f"{row} \\" for row in typed[:-1]] + typed[-1:]
    margin = " " * _COMMENT_COLUMN
    words = comment.split()
    comments = _wrapped(words, f"{margin}# ", f"{margin}# ", _WIDTH) if words else []
    if comments and len(rows) == 1 and len(rows[0]) <= _COMMENT_COLUMN - 2:
        beside = comments[0].removeprefix(margin)
        return [rows[0].ljust(_COMMENT_COLUMN) + beside, *comments[1:]]
    return rows + comments


def _wrapped(words: list[str], first: str, other: str, width: int) -> list[str]:
    """Words on lines of at most `width`, each behind its indent."""
    rows = [first + words[0]]
    for word in words[1:]:
        if len(rows[-1]) + 1 + len(word) <= width:
            rows[-1] += f" {word}"
        else:
            rows.append(other + word)
    return rows

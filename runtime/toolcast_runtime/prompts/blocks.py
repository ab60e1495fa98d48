"""The docs of a toolset's tools for system prompts, for each client its own tools alone.

Where a client may have every tool of a block, the block is the file that was generated, byte
for byte; otherwise it is put together from the texts of the tools that the client may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..access.clients import AccessError
from ..registry.registry import Registry

__all__ = ["PromptDocs", "PromptSection", "PromptTool"]


@dataclass(frozen=True, slots=True)
class PromptTool:
    """One tool: its bullet, and the paragraphs below its heading."""

    name: str
    bullet: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class PromptSection:
    """One section with its tools; texts are Markdown, "" where there is none."""

    file: str
    heading: str
    label: str
    tools: tuple[PromptTool, ...]
    intro: str = ""
    footer: str = ""


@dataclass(frozen=True, slots=True)
class PromptDocs:
    """The blocks of a toolset with clients.

    Attributes:
        registry: says who may have which tool.
        module: the path of the module beside the generated files.
        heading: the preamble's.
        intro: the preamble's.
        sections: by name, in the declared order.
        cli_client: whom the CLI block is for; None without one.
        cli_lines: the lines of each tool in the CLI block.
    """

    registry: Registry
    module: str
    heading: str
    intro: str
    sections: Mapping[str, PromptSection]
    cli_client: str | None = None
    cli_lines: Mapping[str, Sequence[str]] | None = None

    def section(self, name: str, client: str | None = None) -> str:
        """The block of one section with the client's tools; "" when it has none there.

        Raises:
            KeyError: there is no section of that name.
            UnknownClientError: the toolset has no such client.
            AccessError: who may have which tool cannot be found out.
        """
        section = self.sections[name]
        tools = self._tools_of(section, client)
        if len(tools) == len(section.tools):
            return self._read(section.file)
        if not tools:
            return ""
        parts = [f"## {section.heading}\n"]
        if section.intro:
            parts.append(f"{section.intro}\n")
        parts.append("".join(f"{tool.bullet}\n" for tool in tools))
        for tool in tools:
            body = f"{tool.body}\n" if tool.body else ""
            parts.append(f"### {tool.name}\n{body}")
        if section.footer:
            parts.append(f"{section.footer}\n")
        return "\n".join(parts)

    def preamble(self, client: str | None = None) -> str:
        """The short list of the client's tools, for the top of the prompt.

        Raises:
            UnknownClientError: the toolset has no such client.
            AccessError: who may have which tool cannot be found out.
        """
        offered = [(s, self._tools_of(s, client)) for s in self.sections.values()]
        if all(len(tools) == len(section.tools) for section, tools in offered):
            return self._read("preamble.md")
        parts = [f"## {self.heading}\n"]
        if self.intro:
            parts.append(f"{self.intro}\n")
        for section, tools in offered:
            if tools:
                bullets = "".join(f"{tool.bullet}\n" for tool in tools)
                parts.append(f"**{section.label}**\n{bullets}")
        return "\n".join(parts)

    def cli_block(self) -> str:
        """The commands of the client that the command line acts as, for agents without MCP.

        Raises:
            FileNotFoundError: the toolset has no `cli` target.
            AccessError: who may have which tool cannot be found out, or a command that
                the client may no longer have cannot be taken out of the block.
        """
        text = self._read("cli.md")
        access = self.registry.access()
        for tool, lines in (self.cli_lines or {}).items():
            if not access.may_have(self.cli_client, tool):
                for line in lines:
                    kept = [row for row in text.split("\n") if line not in row]
                    if len(kept) == text.count("\n") + 1:
                        raise AccessError(f"the CLI block has no line for `{tool}`")
                    text = "\n".join(kept)
        return text

    def _tools_of(self, section: PromptSection, client: str | None) -> list[PromptTool]:
        access = self.registry.access()
        # Also where the section is empty: an unknown client is refused everywhere.
        access.client(client)
        return [t for t in section.tools if access.may_have(client, t.name)]

    def _read(self, file: str) -> str:
        return (Path(self.module).parent / file).read_text(encoding="utf-8")

"""Holds a toolset's live outputs against its snapshot fixtures.

Each check raises AssertionError with the tool, the surface and a diff.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..registry.tool_list import ListedTool, PreparedTools, PreparedToolsError
from ..tools.tool import Tool
from ..validation.validators import Validators
from .mcp_wire import raw_tools_list

__all__ = ["SnapshotChecks"]


class SnapshotChecks:
    """The checks of one toolset.

    Args:
        package: the toolset's generated package.
        fixtures: the fixture of each tool that the specs define.
        sections: the tools of each section of the prompt docs.
        excluded: the tools that are declared not to be in a target, with the reason.
    """

    def __init__(
        self,
        package: str,
        fixtures: Mapping[str, str],
        sections: Mapping[str, Sequence[str]],
        excluded: Mapping[str, Mapping[str, str]],
    ) -> None:
        self._package = package
        self._fixtures = fixtures
        self._sections = sections
        self._excluded = excluded
        self._folder = Path(self._module("registry").__file__ or "").parent

    def openai(self, tool: str) -> None:
        """The registry's OpenAI format."""
        if self._in("registry", tool):
            self._same(tool, "openai", self._tool(tool).openai())
            self._same(tool, "openai, as listed", self._listed(tool).openai())

    def examples(self, tool: str) -> None:
        """Each example of a tool is a valid call."""
        if not self._in("registry", tool):
            return
        validators, spec = Validators(), self._tool(tool)
        for number, example in enumerate(spec.examples, 1):
            problems = validators.problems_with_arguments(spec, example["arguments"])
            if problems:
                raise AssertionError(f"{tool}: example {number}: {'; '.join(problems)}")

    def mcp_registers_every_tool(self) -> None:
        """The server shows exactly the tools that the specs define."""
        self._complete(
            "mcp", self._module("mcp_server").TOOLS, "the MCP server's TOOLS"
        )

    def mcp_description(self, tool: str) -> None:
        """The server's description is the spec's."""
        if self._in("mcp", tool):
            live, kept = self._tool(tool).definition, self._json("mcp", tool)
            what = f"{tool}: the MCP description"
            _compare(
                what, _text(live.get("description")), _text(kept.get("description"))
            )

    def mcp_input_schema(self, tool: str) -> None:
        """The server's input schema is the spec's, in the same order of keys."""
        if self._in("mcp", tool):
            live, kept = self._tool(tool).definition, self._json("mcp", tool)
            what = f"{tool}: the MCP inputSchema"
            _compare(
                what, _text(live.get("inputSchema")), _text(kept.get("inputSchema"))
            )

    def mcp_definition(self, tool: str) -> None:
        """The whole MCP tool."""
        if self._in("mcp", tool):
            self._same(tool, "mcp", self._tool(tool).definition)
            self._same(tool, "mcp, as listed", self._listed(tool).definition)

    def mcp_tools_list(self, client: str | None, fixture: str, revision: str) -> None:
        """The bytes that the server really sends over stdio."""
        kept = self._bytes(f"tools_list/{fixture}.json")
        command = ["-m", f"{self._package}.mcp_server"]
        if client is not None:
            command += ["--client", client]
        command.append("--own-tools")
        depth = len(self._package.split("."))
        root = self._folder.parents[depth - 1]
        live = raw_tools_list(command, root, revision) + b"\n"
        if live != kept:
            self._same_tools(json.loads(live), json.loads(kept), client or "everyone")
            raise AssertionError("tools/list: the same tools in other bytes")

    def langchain_wraps_every_tool(self) -> None:
        """There is a wrapper for exactly the tools that the specs define."""
        wrapped = self._module("langchain_tools").TOOLS
        self._complete("langchain", wrapped, "the LangChain wrappers' TOOLS")

    def langchain(self, tool: str) -> None:
        """What a wrapper shows a model."""
        client = self._client_of(tool)
        offered = client is not None or not self._has_clients
        if self._in("langchain", tool) and offered:
            module = self._module("langchain_tools")
            wrapper = module.get_langchain_tool(tool, client)
            kept = self._json("langchain", tool)
            kept["args_schema"].setdefault("properties", {})
            live = {
                "name": wrapper.name,
                "description": wrapper.description,
                "args_schema": wrapper.args_schema,
            }
            _compare(f"{tool}: LangChain wrapper", _text(live), _text(kept))

    def cli_decides_on_every_tool(self) -> None:
        """The keyword map has exactly the tools that the specs define."""
        self._complete("cli", self._module("cli").KEYWORDS, "the CLI keyword map")

    def cli(self, tool: str) -> None:
        """A tool's keyword, or the reason for having none."""
        if not self._in("cli", tool):
            return
        module = self._module("cli")
        kept = self._json("cli", tool)
        if tool not in module.KEYWORDS:
            raise AssertionError(f"{tool}: the CLI keyword map lacks it")
        if module.KEYWORDS[tool] != kept["keyword"]:
            raise AssertionError(
                f"{tool}: the CLI keyword is `{module.KEYWORDS[tool]}`,"
                f" the spec says `{kept['keyword']}`"
            )
        live = [
            " ".join(word for word in (c.keyword, c.flag, c.action) if word)
            for c in module.COMMANDS
            if c.tool == tool
        ]
        _compare(f"{tool}: its CLI commands", _text(live), _text(kept["commands"]))

    def cli_lines(self, tool: str) -> None:
        """Every command of a tool stands on a line of the CLI block."""
        if not self._in("cli", tool):
            return
        block = (self._folder / "prompts" / "cli.md").read_text(encoding="utf-8")
        calls = {line.partition("   # ")[0].strip() for line in block.split("\n")}
        for line in self._json("cli", tool)["lines"]:
            if line not in calls:
                raise AssertionError(f"{tool}: the CLI block has no line `{line}`")

    def prompt(self, tool: str) -> None:
        """A tool's bullet and paragraphs stand in the block of its section."""
        if not self._in("prompts", tool):
            return
        found = [name for name, tools in self._sections.items() if tool in tools]
        if not found:
            raise AssertionError(f"{tool}: stands in no section of the prompt docs")
        client = self._client_of(tool)
        if self._has_clients and client is None:
            return  # nobody may have it, so that no prompt tells of it
        whom = [] if client is None else [client]
        block = self._module("prompts").section(found[0], *whom)
        kept = self._bytes(f"prompts/{self._fixtures[tool]}.md").decode("utf-8")
        bullet, _, body = kept.partition("\n\n")
        for part, what in ((bullet, "bullet"), (body.rstrip("\n"), "paragraphs")):
            if f"\n{part}\n" not in f"\n{block}":
                raise AssertionError(
                    f"{tool}: its {what} in section `{found[0]}` are missing or changed"
                    f"\nexpected:\n{part}"
                )
        if f"\n{bullet}\n" not in self._module("prompts").preamble(*whom):
            raise AssertionError(f"{tool}: the preamble lacks its bullet")

    def section(self, name: str) -> None:
        """The bytes of a section's block."""
        self.block(self._module("prompts").SECTIONS[name])

    def block(self, file: str) -> None:
        """The bytes of a Markdown block."""
        live = (self._folder / "prompts" / file).read_bytes()
        kept = self._bytes(f"blocks/{file}")
        if live != kept:
            _compare(f"prompts/{file}", live.decode(), kept.decode())

    def gone_name(self, name: str) -> None:
        """A former or reserved name stands in no block, as a word of its own."""
        word = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])")
        for path in sorted((self._folder / "prompts").glob("*.md")):
            for number, line in enumerate(
                path.read_text(encoding="utf-8").split("\n"), 1
            ):
                if word.search(line):
                    raise AssertionError(f"{path.name}:{number}: still says `{name}`")

    @property
    def _snapshots(self) -> Path:
        return self._folder / "snapshots"

    def _module(self, name: str) -> Any:
        return importlib.import_module(f"{self._package}.{name}")

    def _tool(self, name: str) -> Tool:
        modules = self._module("registry").MODULES
        if name not in modules:
            raise AssertionError(f"{name}: the registry lacks it")
        tool: Tool = self._module(f"tools.{modules[name]}").TOOL
        return tool

    def _listed(self, name: str) -> ListedTool:
        prepared: PreparedTools = self._module("registry").REGISTRY.prepared
        try:
            return prepared.tool(name)
        except PreparedToolsError as error:
            raise AssertionError(f"{name}: {error}") from None

    def _client_of(self, tool: str) -> str | None:
        if not self._has_clients:
            return None
        registry = self._module("registry")
        access = registry.REGISTRY.access()
        return next((c for c in registry.CLIENTS if access.may_have(c, tool)), None)

    @property
    def _has_clients(self) -> bool:
        return hasattr(self._module("registry"), "CLIENTS")

    def _in(self, target: str, tool: str) -> bool:
        return tool not in self._excluded.get(target, {})

    def _complete(
        self, target: str, live: Sequence[str] | Mapping[str, Any], where: str
    ) -> None:
        expected = {name for name in self._fixtures if self._in(target, name)}
        missing, extra = expected - set(live), set(live) - expected
        if missing:
            raise AssertionError(f"missing in {where}: {', '.join(sorted(missing))}")
        if extra:
            raise AssertionError(
                f"without a spec in {where}: {', '.join(sorted(extra))}"
            )

    def _json(self, surface: str, tool: str) -> Any:
        return json.loads(self._bytes(f"{surface}/{self._fixtures[tool]}.json"))

    def _bytes(self, fixture: str) -> bytes:
        try:
            return (self._snapshots / fixture).read_bytes()
        except FileNotFoundError:
            raise AssertionError(f"there is no fixture snapshots/{fixture}") from None

    def _same(self, tool: str, surface: str, live: Any) -> None:
        kept = self._json(surface.partition(",")[0], tool)
        _compare(f"{tool}: {surface}", _text(live), _text(kept))

    def _same_tools(self, live: list[Any], kept: list[Any], client: str) -> None:
        names = [tool.get("name") for tool in live]
        expected = [tool.get("name") for tool in kept]
        if names != expected:
            _compare(f"tools/list for {client}: names", _text(names), _text(expected))
        for mine, theirs in zip(live, kept, strict=True):
            _compare(f"tools/list: {mine['name']}", _text(mine), _text(theirs))


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _compare(what: str, live: str, kept: str) -> None:
    if live == kept:
        return
    diff = difflib.unified_diff(
        kept.split("\n"), live.split("\n"), "snapshot", "live", lineterm="", n=2
    )
    raise AssertionError(f"{what} differs from its snapshot\n" + "\n".join(diff))

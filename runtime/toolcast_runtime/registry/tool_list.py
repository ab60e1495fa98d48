"""A toolset's tools as they are listed, from the file that was prepared at generation.

`definitions.jsonl` has one line a tool: `name`, `summary`, `description` where the definition
has another or none, `when_to_use` where it is routed by it, `always` where it is so, and last `definition`, whose bytes are the very
ones that MCP's `tools/list` sends. A list is joined from them without an object being built
and without a tool's module being imported.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FILE", "ListedTool", "PreparedTools", "PreparedToolsError", "checksum"]

FILE = "definitions.jsonl"

_NAME = b'{"name":"'
_DEFINITION = b',"definition":'


class PreparedToolsError(RuntimeError):
    """The prepared file is missing, torn, or of another generation than its registry."""


class ListedTool:
    """What a list shows of one tool.

    Attributes:
        name: the name that models and callers use.
        summary: one line.
        description: what models read.
        when_to_use: when to choose it; empty for a tool that is always offered.
        always: offered to the model in every turn, not through the router.
        definition: the tool exactly as MCP's `tools/list` shows it.
    """

    __slots__ = (
        *("always", "definition", "description", "name", "summary", "when_to_use"),
    )

    def __init__(self, line: bytes) -> None:
        values: dict[str, Any] = json.loads(line)
        self.definition: dict[str, Any] = values["definition"]
        self.name: str = values["name"]
        self.summary: str = values["summary"]
        own = values.get("description")
        self.description: str = self.definition["description"] if own is None else own
        self.when_to_use: str = values.get("when_to_use", "")
        self.always: bool = values.get("always", False)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        schema: dict[str, Any] = self.definition["inputSchema"]
        return schema

    def openai(self) -> dict[str, Any]:
        """The tool in OpenAI's Chat Completions format."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }
        return {"type": "function", "function": function}


class PreparedTools:
    """The prepared tools of one toolset; the file is read when it is first needed.

    Args:
        package: the toolset's package, which the file stands in.
        names: the tools that the file must have.
        checksum: what the function `checksum` gives for the whole file.

    Attributes:
        checksum: the same.
    """

    def __init__(
        self, package: str | None, names: Iterable[str], checksum: str
    ) -> None:
        self._package = package or ""
        self._names = names
        self.checksum = checksum
        self._lines: dict[str, bytes] | None = None
        self._tools: dict[str, ListedTool] = {}

    def tools_json(self, names: Iterable[str]) -> bytes:
        """The JSON array of the named tools' definitions, as `tools/list` sends it.

        Raises:
            PreparedToolsError: the file is not what the registry was generated with.
        """
        lines = self._read()
        # `"` is escaped inside of JSON text, so that the first match is the key itself.
        shown = (
            line[line.index(_DEFINITION) + len(_DEFINITION) : -1]
            for line in map(lines.__getitem__, names)
        )
        return b"[" + b",".join(shown) + b"]"

    def tool(self, name: str) -> ListedTool:
        """One tool, built once.

        Raises:
            KeyError: there is none of that name.
            PreparedToolsError: the file is not what the registry was generated with.
        """
        tool = self._tools.get(name)
        if tool is None:
            tool = self._tools[name] = ListedTool(self._read()[name])
        return tool

    def _read(self) -> dict[str, bytes]:
        if self._lines is None:
            data = _data(self._package)
            if checksum(data) != self.checksum:
                raise PreparedToolsError(
                    f"{self._package}/{FILE} is not the file that the registry was"
                    " generated with: generate both again"
                )
            lines = data.split(b"\n")[:-1]
            self._lines = {_name(line): line for line in lines}
            missing = [name for name in self._names if name not in self._lines]
            if missing:
                raise PreparedToolsError(
                    f"{self._package}/{FILE} lacks {', '.join(missing[:5])}: generate"
                    " both again"
                )
        return self._lines


def checksum(data: bytes) -> str:
    """What tells a whole file from a torn one, and one generation from another."""
    import zlib

    return f"crc32:{zlib.crc32(data):08x}"


def _name(line: bytes) -> str:
    # The name of a tool is ASCII without anything that JSON would escape.
    return line[len(_NAME) : line.index(b'"', len(_NAME))].decode("ascii")


def _data(package: str) -> bytes:
    import pkgutil

    try:
        data = pkgutil.get_data(package, FILE)
    except OSError as error:
        raise PreparedToolsError(
            f"{package}/{FILE} cannot be read: {error.strerror}; it is generated, and has"
            " to be installed, with the package"
        ) from None
    if data is None:
        raise PreparedToolsError(f"{package} cannot give its {FILE}")
    return data

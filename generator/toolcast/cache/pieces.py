"""What casting gave for one toolset, in earlier runs and in this one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..output.kept import Kept, Output, runtime_imports
from ..output.results import Piece
from ..spec.model import ToolSpec
from .columns import FileColumns, TextColumn
from .stored import Section

__all__ = ["TEXTS", "Pieces"]

TEXTS = "texts "
"""What the names of sections begin with that hold most texts."""
_OF_PIECES = ("names ", TEXTS, "fresh ")
_FILES = "files "
_MANY = "many"


class _Chosen(NamedTuple):
    """Some of the toolset's tools.

    Attributes:
        tools: they themselves.
        names: their names, in order.
        new: those of which nothing that an earlier run made holds.
    """

    tools: Sequence[ToolSpec]
    names: list[str]
    new: list[ToolSpec]


class Pieces:
    """The results of casting one toolset; see `Results`.

    Args:
        sections: what `packed` gave at the end of an earlier run; empty without one, or when
            the toolset's own file has changed since.
        digests: what the files were then, by their paths.
        folder: the part of the paths before those of the toolset's own files.
        unchanged: the names of the tools whose files have not changed since.
    """

    def __init__(
        self,
        sections: Mapping[str, Section],
        digests: Mapping[str, str],
        folder: str,
        unchanged: Collection[str],
    ) -> None:
        self._sections = sections
        self._digests = digests
        self._folder = folder
        self._unchanged = unchanged
        self._chosen: dict[int, _Chosen] = {}
        self._columns: dict[str, TextColumn] = {}
        self._kinds: dict[str, FileColumns] = {}
        self._before: Mapping[str, Any] = json.loads(bytes(sections.get(_MANY, b"{}")))
        self._many: dict[str, list[Any]] = {}
        self._now: dict[str, Mapping[str, Output]] = {}
        self._imports: set[str] = set()

    def parts(
        self, piece: Piece, tools: Sequence[ToolSpec]
    ) -> Sequence[bytes | memoryview]:
        """See `Results`."""
        chosen = self._choose(tools)
        return self._made(piece, chosen).parts(chosen.names)

    def _choose(self, tools: Sequence[ToolSpec]) -> _Chosen:
        known = self._chosen.get(id(tools))
        if known is None:
            names = [tool.name for tool in tools]
            is_known = map(self._unchanged.__contains__, names)
            new = [
                tool for tool, known in zip(tools, is_known, strict=True) if not known
            ]
            # It holds the tools, so that no others get their identity.
            known = self._chosen[id(tools)] = _Chosen(tools, names, new)
        return known

    def _made(self, piece: Piece, chosen: _Chosen) -> TextColumn:
        """The column of a piece, with a text for each of the tools."""
        column = self._columns.get(piece.name)
        if column is None:
            sections = [self._sections.get(k + piece.name, b"") for k in _OF_PIECES]
            column = self._columns[piece.name] = TextColumn(piece.between, *sections)
        column.asked_for(chosen.names)
        missing: Iterable[ToolSpec] = chosen.new
        if column.names != chosen.names:
            known = column.known().intersection(self._unchanged)
            missing = [tool for tool in chosen.tools if tool.name not in known]
        for tool in missing:
            if tool.name not in column.now:
                column.now[tool.name] = piece.make(tool).encode("utf-8")
        return column

    def tool_files(
        self,
        kind: str,
        tools: Sequence[ToolSpec],
        path: Callable[[ToolSpec], str],
        make: Callable[[ToolSpec], bytes],
    ) -> Mapping[str, Output]:
        """See `Results`."""
        section = self._sections.get(_FILES + kind, b"")
        files = self._kinds[kind] = FileColumns(section)
        chosen = self._choose(tools)
        files.keep(set(chosen.names))
        unchanged = self._unchanged
        self._imports |= files.imports(unchanged)
        missing: Iterable[ToolSpec] = chosen.new
        if files.names != chosen.names:
            known = set(files.names).intersection(unchanged)
            missing = [tool for tool in tools if tool.name not in known]
        new = {tool.name for tool in missing}
        below, digests = self._folder, self._digests
        found: dict[str, Output] = {
            path: Kept(digests[below + path])
            for name, path in zip(files.names, files.paths, strict=True)
            if name not in new
        }
        for tool in missing:
            where, data = path(tool), make(tool)
            found[where] = data
            files.set(tool.name, where, runtime_imports(where, data))
        return found

    def files(
        self,
        name: str,
        tools: Sequence[ToolSpec],
        of: Sequence[Piece] | None,
        make: Callable[[], Mapping[str, Output]],
    ) -> Mapping[str, Output]:
        """See `Results`."""
        if name not in self._now:
            self._now[name] = self._files(name, self._choose(tools), of, make)
        return self._now[name]

    def _files(
        self,
        name: str,
        chosen: _Chosen,
        of: Sequence[Piece] | None,
        make: Callable[[], Mapping[str, Output]],
    ) -> Mapping[str, Output]:
        columns = None if of is None else [self._made(piece, chosen) for piece in of]
        pieces = None if of is None else [piece.name for piece in of]
        text = json.dumps([pieces, chosen.names])
        key = hashlib.sha256(text.encode("ascii")).hexdigest()
        before = self._before.get(name)
        if before is not None and before[0] == key and _same(columns, chosen.new):
            self._many[name] = before
            for imports in before[1].values():
                self._imports.update(imports)
            below, digests = self._folder, self._digests
            return {path: Kept(digests[below + path]) for path in before[1]}
        files = make()
        imports = {}
        for path, data in files.items():
            if not isinstance(data, bytes):
                raise TypeError(
                    f"{path} is no bytes, or is made of files that are kept"
                )
            imports[path] = runtime_imports(path, data)
        self._many[name] = [key, imports]
        return files

    def imports(self) -> Iterable[str]:
        """See `Results`."""
        return self._imports

    def packed(self) -> dict[str, Section]:
        """What the next run can build on, in sections."""
        sections: dict[str, Section] = {_MANY: json.dumps(self._many).encode("ascii")}
        for name, column in self._columns.items():
            packed = column.packed(self._unchanged)
            for kind, section in zip(_OF_PIECES, packed, strict=True):
                sections[kind + name] = section
        for name, files in self._kinds.items():
            sections[_FILES + name] = files.packed()
        return sections


def _same(columns: Sequence[TextColumn] | None, tools: Sequence[ToolSpec]) -> bool:
    """Whether new or changed tools have the texts that they had."""
    if columns is None:
        return not tools
    return all(
        column.earlier(tool.name) == column.now[tool.name]
        for column in columns
        for tool in tools
    )

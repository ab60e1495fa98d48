"""What casting gives piece by piece, so that pieces can be kept from run to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..spec.model import ToolSpec
from .kept import Output

__all__ = ["AllNew", "Piece", "Results", "values_of"]


class Piece(NamedTuple):
    """A text that is made of one tool, and of nothing else but its toolset's own file.

    Attributes:
        name: tells it from the toolset's other pieces.
        make: gives the text of a tool.
        between: what stands between the texts of two tools.
    """

    name: str
    make: Callable[[ToolSpec], str]
    between: bytes = b","


class Results(Protocol):
    """What casting gives piece by piece; a piece that an earlier run gave is not made again.

    What a piece is made of is all that it may depend on: the toolset's own file, and the
    tools, or pieces of them, that are named.
    """

    def parts(
        self, piece: Piece, tools: Sequence[ToolSpec]
    ) -> Sequence[bytes | memoryview]:
        """Parts of one text: the piece of each of the tools, with what stands between.

        In UTF-8; what is no change stays together.
        """

    def tool_files(
        self,
        kind: str,
        tools: Sequence[ToolSpec],
        path: Callable[[ToolSpec], str],
        make: Callable[[ToolSpec], bytes],
    ) -> Mapping[str, Output]:
        """Files that are made of one tool each.

        Args:
            kind: tells them from the other files of the same tools.
            path: where the file of a tool goes; its name decides.
        """

    def files(
        self,
        name: str,
        tools: Sequence[ToolSpec],
        of: Sequence[Piece] | None,
        make: Callable[[], Mapping[str, Output]],
    ) -> Mapping[str, Output]:
        """Files that are made of many tools; asked for again in one run, the same ones.

        Args:
            name: tells them from others.
            tools: which ones; their names and order count by themselves.
            of: the pieces of each of them that count; None for all that a tool says.
        """

    def imports(self) -> Iterable[str]:
        """The modules of the runtime that the files import which were not made again."""


class AllNew:
    """Results without earlier ones: each piece is made, once."""

    def __init__(self) -> None:
        self._texts: dict[tuple[str, str], bytes] = {}
        self._files: dict[str, Mapping[str, Output]] = {}

    def parts(
        self, piece: Piece, tools: Sequence[ToolSpec]
    ) -> Sequence[bytes | memoryview]:
        known = self._texts
        for tool in tools:
            if (piece.name, tool.name) not in known:
                known[piece.name, tool.name] = piece.make(tool).encode("utf-8")
        texts = [known[piece.name, tool.name] for tool in tools]
        return [piece.between.join(texts)]

    def tool_files(
        self,
        kind: str,
        tools: Sequence[ToolSpec],
        path: Callable[[ToolSpec], str],
        make: Callable[[ToolSpec], bytes],
    ) -> Mapping[str, Output]:
        return {path(tool): make(tool) for tool in tools}

    def files(
        self,
        name: str,
        tools: Sequence[ToolSpec],
        of: Sequence[Piece] | None,
        make: Callable[[], Mapping[str, Output]],
    ) -> Mapping[str, Output]:
        if name not in self._files:
            self._files[name] = make()
        return self._files[name]

    def imports(self) -> Iterable[str]:
        return ()


def values_of(results: Results, piece: Piece, tools: Sequence[ToolSpec]) -> list[Any]:
    """The values of a piece whose texts are JSON, with commas between."""
    text = b"".join([b"[", *results.parts(piece, tools), b"]"])
    values: list[Any] = json.loads(text)
    return values

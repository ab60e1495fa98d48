"""The values that check functions receive: texts, schemas and parameters of tools."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple

from ..analysis.texts import Owner
from ..json_schema.graph import JsonSchema
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.tree import SHARED, Path


class Scope(NamedTuple):
    """The toolset and the workspace that contain the value to check."""

    toolset: Toolset
    workspace: Workspace


class Text(NamedTuple):
    """A string of a spec, with its location.

    Attributes:
        owner: the toolset, tool, resource or prompt that contains the string.
        path: keys and indexes in the owner's file.
        text: the string.
        is_key: whether the string is a key of an object, such as a parameter name.
        is_defined: whether the string is part of a tool's definition.
    """

    owner: Owner
    path: Path
    text: str
    is_key: bool = False
    is_defined: bool = False


# The non-ASCII characters that `re.IGNORECASE` matches with an ASCII letter.
_FOLDS = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
# Separator of joined texts. Specs cannot contain NUL, and the patterns of phrases do not match
# across it.
_TEXT_SEPARATOR = "\n\0\n"


def fold_case(text: str) -> str:
    """Return a text in lower case, of the same length, as `re.IGNORECASE` compares it."""
    if not text.isascii():
        for character, letter in _FOLDS.items():
            text = text.replace(character, letter)
    return text.lower()


class Texts:
    """The strings of a toolset, in which each distinct string is searched only once.

    Many tools contain the same strings. A check first selects the distinct strings that match,
    and then calls `locate` for their positions.

    Args:
        owners: each toolset or spec with its strings.
        list_texts: returns the strings of an owner with their paths.
    """

    def __init__(
        self,
        owners: Iterable[tuple[Owner, Sequence[str]]],
        list_texts: Callable[[Owner], Iterable[Text]],
    ) -> None:
        self._owners = tuple(owners)
        self._list_texts = list_texts

    @cached_property
    def unique_texts(self) -> tuple[str, ...]:
        """The distinct strings, in the order of their first occurrence."""
        strings = chain.from_iterable(strings for _, strings in self._owners)
        return tuple(dict.fromkeys(strings))

    @cached_property
    def joined_text(self) -> str:
        """All distinct strings in lower case, joined, so that one search finds all matches."""
        return _TEXT_SEPARATOR.join(map(fold_case, self.unique_texts))

    @cached_property
    def _starts(self) -> list[int]:
        """The start offset of each distinct string in `joined_text`, and the end offset."""
        sizes = (len(text) + len(_TEXT_SEPARATOR) for text in self.unique_texts)
        return list(accumulate(sizes, initial=0))

    def find_candidates(self, patterns: Iterable[re.Pattern[str]]) -> set[str]:
        """Return the strings that overlap a match of a pattern in `joined_text`.

        All strings that match are included, but also others: a match that spans two strings
        includes both. Therefore the caller must search the returned strings again.

        Args:
            patterns: patterns for case-folded text.
        """
        candidates: set[str] = set()
        for pattern in patterns:
            for match in pattern.finditer(self.joined_text):
                first = bisect_right(self._starts, match.start()) - 1
                last = bisect_right(self._starts, match.end())
                candidates.update(self.unique_texts[first:last])
        return candidates

    def locate(self, texts: Iterable[str]) -> Iterator[Text]:
        """Yield every occurrence of the given strings, in the order of the owners."""
        selected = frozenset(texts)
        if not selected:
            return
        for owner, strings in self._owners:
            if selected.isdisjoint(strings):
                continue
            for text in self._list_texts(owner):
                if text.text in selected:
                    yield text


class ToolSchema(NamedTuple):
    """The schema of a tool's parameters or of its result.

    Attributes:
        tool: the tool.
        field: the field of the spec that contains the schema.
        graph: the schema with its subschemas and references.
    """

    tool: ToolSpec
    field: str
    graph: JsonSchema

    def is_shared(self, path: Path) -> bool:
        """Return whether a path in the schema is in the copy of the shared definitions."""
        return self.tool.source.shared is not None and path[:2] == SHARED

    def list_keyword_values(self, keyword: str) -> Iterator[tuple[Path, Any]]:
        """Yield the path in the spec and the value of each occurrence of a keyword.

        All subschemas are searched, also those of shared definitions.
        """
        for path, schema in self.graph.subschemas.items():
            if keyword in schema:
                yield (self.field, *path, keyword), schema[keyword]


class Parameter(NamedTuple):
    """A parameter of a tool, with the schema in the tool's spec."""

    tool: ToolSpec
    name: str
    schema: Any

    @property
    def path(self) -> Path:
        """The path of the parameter in the tool's spec."""
        return ("parameters", "properties", self.name)

"""What checks are given: tools, their texts and schemas."""

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
    """Where something stands that a check is given."""

    toolset: Toolset
    workspace: Workspace


class Text(NamedTuple):
    """A text of a spec.

    Attributes:
        owner: whose it is.
        path: where it stands there.
        text: the text itself.
        is_key: it is the key of a mapping, a parameter's name for one.
        is_defined: it is part of a tool's definition.
    """

    owner: Owner
    path: Path
    text: str
    is_key: bool = False
    is_defined: bool = False


# The characters beyond ASCII that a pattern regardless of case takes for ASCII letters.
_FOLDS = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
# No text has a NUL, and no phrase goes on behind one.
_TEXT_SEPARATOR = "\n\0\n"


def fold_case(text: str) -> str:
    """The text as a pattern regardless of case sees its ASCII letters, of the same length."""
    if not text.isascii():
        for character, letter in _FOLDS.items():
            text = text.replace(character, letter)
    return text.lower()


class Texts:
    """The texts of a toolset, each different one once.

    Tools say much alike. What is looked for is looked for in the different texts, and of those
    that have it the places are told.

    Args:
        owners: who has texts, each with the strings of them.
        places: the texts of one of these, with their places.
    """

    def __init__(
        self,
        owners: Iterable[tuple[Owner, Sequence[str]]],
        places: Callable[[Owner], Iterable[Text]],
    ) -> None:
        self._owners = tuple(owners)
        self._places = places

    @cached_property
    def unique_texts(self) -> tuple[str, ...]:
        """The texts, in order, each once."""
        said = (strings for _, strings in self._owners)
        return tuple(dict.fromkeys(chain.from_iterable(said)))

    @cached_property
    def joined(self) -> str:
        """All of them as one, folded: what stands in none of it stands in no text."""
        return _TEXT_SEPARATOR.join(map(fold_case, self.unique_texts))

    @cached_property
    def _starts(self) -> list[int]:
        sizes = (len(text) + len(_TEXT_SEPARATOR) for text in self.unique_texts)
        return list(accumulate(sizes, initial=0))

    def find_candidates(self, patterns: Iterable[re.Pattern[str]]) -> set[str]:
        """The texts that a match of a pattern for folded texts touches.

        Others have no match: where one would span two texts, both are named.
        """
        found: set[str] = set()
        for pattern in patterns:
            for match in pattern.finditer(self.joined):
                first = bisect_right(self._starts, match.start()) - 1
                last = bisect_right(self._starts, match.end())
                found.update(self.unique_texts[first:last])
        return found

    def locate(self, texts: Iterable[str]) -> Iterator[Text]:
        """Where some of the texts stand, in order."""
        wanted = frozenset(texts)
        for owner, strings in self._owners if wanted else ():
            if not wanted.isdisjoint(strings):
                yield from (t for t in self._places(owner) if t.text in wanted)


class ToolSchema(NamedTuple):
    """A schema of a tool: what it takes, or what it gives.

    Attributes:
        tool: whose it is.
        field: the field that holds it.
        graph: what is known of it.
    """

    tool: ToolSpec
    field: str
    graph: JsonSchema

    def is_shared(self, path: Path) -> bool:
        """Whether a path in it leads into the shared definitions."""
        return self.tool.source.shared is not None and path[:2] == SHARED

    def having(self, keyword: str) -> Iterator[tuple[Path, Any]]:
        """The values of a keyword in it and in all schemas in it, by the paths in the spec."""
        for path, schema in self.graph.subschemas.items():
            if keyword in schema:
                yield (self.field, *path, keyword), schema[keyword]


class Parameter(NamedTuple):
    """A parameter of a tool, with the schema that its spec has for it."""

    tool: ToolSpec
    name: str
    schema: Any

    @property
    def path(self) -> Path:
        """Where it stands in the tool's spec."""
        return ("parameters", "properties", self.name)

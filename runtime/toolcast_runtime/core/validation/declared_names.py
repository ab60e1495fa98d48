"""The parameters that a schema declares, in whatever way, whether or not it is open to more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from .references import References

_MOST_SCHEMAS = 20_000


class DeclaredNames:
    """The names of the parameters that a schema declares.

    By `properties` and `patternProperties`, of the schema itself and of every one that it
    refers to, has as an alternative (`allOf`, `anyOf`, `oneOf`) or under a condition (`if`,
    `then`, `else`, `dependentSchemas`). What `additionalProperties` lets in is not declared.

    Args:
        schema: the JSON Schema of the arguments, in any dialect.

    Attributes:
        names: the names that `properties` has.
        patterns: the keys of `patternProperties`, each once.
    """

    def __init__(self, schema: Any) -> None:
        names: dict[str, None] = {}
        patterns: dict[str, None] = {}
        references = References(schema)
        waiting, known = [schema], set[int]()
        while waiting and len(known) < _MOST_SCHEMAS:
            part = waiting.pop()
            if not isinstance(part, Mapping) or id(part) in known:
                continue
            known.add(id(part))
            for found, keyword in (
                (names, "properties"),
                (patterns, "patternProperties"),
            ):
                declared = part.get(keyword)
                if isinstance(declared, Mapping):
                    found.update(dict.fromkeys(declared))
            try:
                waiting.extend(references.same_value(part))
            except LookupError:
                continue  # No call passes a schema with a reference that leads nowhere.
        self.names = frozenset(names)
        self.patterns = tuple(patterns)
        self._dialect = schema.get("$schema") if isinstance(schema, Mapping) else None

    def lacks(self, names: Iterable[str]) -> list[str]:
        """Those of the names that are not declared, in their order."""
        left = [name for name in names if name not in self.names]
        return self._unmatched(left) if left and self.patterns else left

    def _unmatched(self, names: list[str]) -> list[str]:
        unmatched: list[str] = []
        for name in names:
            try:
                is_declared = self._matcher.is_valid({name: None})
            except ValueError:
                is_declared = (
                    False  # A pattern that gives up on a name declares it not.
                )
            if not is_declared:
                unmatched.append(name)
        return unmatched

    @cached_property
    def _matcher(self) -> Any:
        """A validator that takes objects whose names all match a pattern."""
        from .compiled import build

        closed: dict[str, Any] = {
            "patternProperties": {key: {} for key in self.patterns},
            "additionalProperties": False,
        }
        if isinstance(self._dialect, str):
            closed["$schema"] = self._dialect
        return build(closed)

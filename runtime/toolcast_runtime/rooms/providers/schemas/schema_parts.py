"""The parts of a schema by their places, in the words of JSON Schema 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....core.validation.references import REFERENCES, References, held_schemas
from .dialect import ANNOTATIONS

Path = tuple[str | int, ...]

_WITHOUT_MEANING = frozenset(
    "$schema $id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary".split()
)
_OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")


class SchemaParts:
    """A schema of a spec.

    Args:
        root: in any dialect; 2020-12 when it does not say.
        path: where it stands in the spec.

    Attributes:
        root: the whole schema.
    """

    def __init__(self, root: Mapping[str, Any], path: Path) -> None:
        self._references = References(root)
        self.root = root
        self._path = path
        self._places: dict[int, Path] = {}
        named = str(root.get("$schema", ""))
        self._is_old = any(draft in named for draft in _OLD_DRAFTS)
        self._cyclic: dict[int, bool] = {}

    def target(self, reference: str) -> Any:
        """What a reference names.

        Raises:
            LookupError: it leads out of the schema, nowhere, or to one of several.
        """
        return self._references.target(reference)

    def place(self, part: Any) -> Path:
        """Where a part stands that a reference names."""
        if not self._places:
            waiting: list[tuple[Path, Any]] = [(self._path, self.root)]
            while waiting:
                path, held = waiting.pop()
                if isinstance(held, Mapping) and id(held) not in self._places:
                    self._places[id(held)] = path
                    for steps, inner in held_schemas(held):
                        waiting.append((path + steps, inner))
        return self._places.get(id(part), self._path)

    def is_cyclic(self, part: Any) -> bool:
        """Whether what a part refers to leads back to it."""
        if id(part) not in self._cyclic:
            self._cyclic[id(part)] = any(one is part for one in self._named_by(part))
        return self._cyclic[id(part)]

    def _named_by(self, part: Any) -> list[Any]:
        """Everything that is named by references in a part, and in what they name."""
        found: dict[int, Any] = {}
        waiting = [part]
        while waiting:
            held = waiting.pop()
            if isinstance(held, (list, tuple)):
                waiting.extend(held)
            elif isinstance(held, Mapping):
                waiting.extend(value for key, value in held.items() if key != "$defs")
                for keyword in REFERENCES:
                    if isinstance(held.get(keyword), str):
                        for named in self._references.targets(held[keyword]):
                            if id(named) not in found:
                                found[id(named)] = named
                                waiting.append(named)
        return list(found.values())

    def in_new_words(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema as 2020-12 says it; its order is kept, what has no meaning is left out."""
        new = {k: v for k, v in schema.items() if k not in _WITHOUT_MEANING}
        if self._is_old and "$ref" in new:
            # Before 2019-09 whatever stands beside a reference is ignored.
            return {k: v for k, v in new.items() if k == "$ref" or k in ANNOTATIONS}
        if isinstance(new.get("items"), (list, tuple)):
            new = _renamed(new, "items", "prefixItems")
            new = _renamed(new, "additionalItems", "items")
        elif "additionalItems" in new:
            del new["additionalItems"]
        for bound, exclusive in (
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
        ):
            is_draft_4 = isinstance(new.get(exclusive), bool)
            if is_draft_4 and new.pop(exclusive) and bound in new:
                new = _renamed(new, bound, exclusive)
        if isinstance(new.get("dependencies"), Mapping):
            for name, needed in new.pop("dependencies").items():
                is_names = isinstance(needed, (list, tuple))
                key = "dependentRequired" if is_names else "dependentSchemas"
                new[key] = {**new.get(key, {}), name: needed}
        return new


def _renamed(schema: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in schema.items()}

"""A JSON Schema as a graph: subschemas, references, and loops among them.

Nothing here follows a reference out of the schema, and nothing recurses: any value that a
YAML file can hold is walked in time linear in its size.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

from toolcast_runtime.core.validation.bounds import CostEstimate
from toolcast_runtime.core.validation.checker import DeclaredNames
from toolcast_runtime.core.validation.limits import (
    has_oversized_patterns,
    has_too_many_paths,
)
from toolcast_runtime.core.validation.references import (
    IN_PLACE,
    REFERENCES,
    list_subschemas,
    resolve_pointer,
)

from ..parsing.tree import SHARED, Path
from .dialects import KEYWORDS, dialect_of, is_address, metaschema

_MANY_PATTERNS = 50
_POINTING = frozenset([*REFERENCES, "$anchor", "$dynamicAnchor", "$id", "id"])


class Reference(NamedTuple):
    """One `$ref`.

    Attributes:
        path: the way to the reference's text.
        text: the reference itself.
        target: the way to what it names; None when that is not in this schema.
    """

    path: Path
    text: str
    target: Path | None

    @property
    def is_local(self) -> bool:
        """Whether it stays within its own document."""
        return self.text.startswith("#")


class _Parts(NamedTuple):
    """What one walk through a schema finds.

    Attributes:
        subschemas: as of `JsonSchema`.
        anchors: the subschema that each anchor names.
        pointers: the references, those by an anchor without their targets.
        named: what is a schema only because a reference names it.
    """

    subschemas: dict[Path, dict[str, Any]]
    anchors: dict[str, Path]
    pointers: list[Reference]
    named: list[Path]


class JsonSchema:
    """A schema, valid or not, with what the rules and the validation ask of it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def dialect(self) -> str | None:
        """The dialect; None when `$schema` names one that is not known."""
        return dialect_of(self.value)

    @cached_property
    def is_valid(self) -> bool:
        """Whether it is valid in its dialect; false for an unknown one."""
        if self.dialect is None:
            return False
        checked = metaschema(self.dialect)
        return all(checked.is_valid(self.at(path)) for path in ((), *self.named))

    @property
    def named(self) -> list[Path]:
        """The ways to values that are schemas only because a reference names them.

        The schema of a dialect does not look at them: shared definitions are such.
        """
        return self._parts.named

    @cached_property
    def is_sound(self) -> bool:
        """Whether a validator can follow it: valid, and all its references lead somewhere."""
        return (
            self.is_valid
            and not self.wrong_addresses
            and all(reference.target is not None for reference in self.references)
            and not self.loops
            and not self.multiplies
            and not self.patterns_are_too_large
        )

    @cached_property
    def work(self) -> CostEstimate:
        """What checking values by it can cost, and by each part of it that has a default."""
        with_default = (one for one in self.subschemas.values() if "default" in one)
        # What contains others is read before them.
        return CostEstimate(self.value, [*with_default, self.value])

    @cached_property
    def wrong_addresses(self) -> tuple[Path, ...]:
        """Where the schema or a part of it gives itself an address that is none (RFC 3986)."""
        keyword = "id" if self.dialect == "draft-04" else "$id"
        return tuple(
            (*path, keyword)
            for path, schema in self.subschemas.items()
            if keyword in schema and not is_address(schema[keyword])
        )

    @property
    def subschemas(self) -> Mapping[Path, dict[str, Any]]:
        """Every subschema that is a mapping, the schema itself first, by its path.

        What a local reference names counts as one, wherever it stands.
        """
        return self._parts.subschemas

    @cached_property
    def _parts(self) -> _Parts:
        found: dict[Path, dict[str, Any]] = {}
        anchors: dict[str, Path] = {}
        pointers: list[Reference] = []
        named: dict[Path, None] = {}
        waiting: deque[tuple[Path, Any, bool]] = deque([((), self.value, False)])
        while waiting:
            path, schema, is_named = waiting.pop()
            if path in found:
                continue
            if is_named and not isinstance(schema, bool):
                named[path] = None
            if not isinstance(schema, dict):
                continue
            if path == SHARED and _are_definitions(schema):
                continue
            found[path] = schema
            held = [
                ((*path, *steps), inner, False)
                for steps, inner in list_subschemas(schema)
            ]
            waiting += reversed(held)
            if _POINTING.isdisjoint(schema):
                continue
            _note_anchors(path, schema, anchors)
            for keyword in REFERENCES:
                text = schema.get(keyword)
                if isinstance(text, str):
                    target = self._pointed(text)
                    pointers.append(Reference((*path, keyword), text, target))
                    if target is not None:
                        waiting.appendleft((target, self.at(target), True))
        return _Parts(found, anchors, pointers, list(named))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """Every reference, in the order of the schema."""
        subschemas, anchors, pointers, _ = self._parts
        if not pointers:
            return ()
        order = {path: index for index, path in enumerate(subschemas)}
        resolved = (
            (
                r._replace(target=anchors.get(r.text[1:]))
                if r.target is None and r.is_local
                else r
            )
            for r in pointers
        )
        return tuple(sorted(resolved, key=lambda r: order[r.path[:-1]]))

    @cached_property
    def patterns(self) -> tuple[tuple[Path, str, bool], ...]:
        """Every regular expression: its path, its text, and whether it is a key."""
        found: list[tuple[Path, str, bool]] = []
        for path, subschema in self.subschemas.items():
            if "pattern" in subschema and isinstance(subschema["pattern"], str):
                found.append(((*path, "pattern"), subschema["pattern"], False))
            keyed = subschema.get("patternProperties")
            if isinstance(keyed, dict):
                found += [
                    ((*path, "patternProperties", key), key, True) for key in keyed
                ]
        return tuple(found)

    def at(self, path: Path) -> Any:
        """The value at a path that the schema has."""
        value = self.value
        for step in path:
            value = value[step]
        return value

    def _pointed(self, text: str) -> Path | None:
        """The path that `#` or `#/a/b` names, or None."""
        if text != "#" and not text.startswith("#/"):
            return None
        return resolve_pointer(self.value, unquote(text[1:]))

    @cached_property
    def declared(self) -> DeclaredNames:
        """The names of the members that it declares, in whatever way."""
        return DeclaredNames(self.value)

    @cached_property
    def multiplies(self) -> bool:
        """Whether its references multiply beyond what a validator can follow."""
        # Without references there are no more ways than places in the file.
        return bool(self.references) and has_too_many_paths(self.value)

    @cached_property
    def patterns_are_too_large(self) -> bool:
        """Whether its patterns are more than a validator takes together."""
        return bool(self.patterns) and has_oversized_patterns(self.value)

    @property
    def has_too_many_patterns(self) -> bool:
        """Whether even looking at each of them takes too long."""
        return self.patterns_are_too_large and len(self.patterns) > _MANY_PATTERNS

    @cached_property
    def loops(self) -> tuple[Reference, ...]:
        """References that lead back to themselves without going into the data.

        Checking any value against such a schema never ends. A tree, whose reference stands
        below `properties` or `items`, is no loop.
        """
        by_place = self._by_place
        if not by_place:
            return ()
        state: dict[Path, bool] = {}
        found: list[Reference] = []
        for start in self.subschemas:
            if start in state:
                continue
            state[start] = True
            stack = [(start, self._same_value(start))]
            while stack:
                here, following = stack[-1]
                target = next(following, None)
                if target is None:
                    state[here] = False
                    stack.pop()
                elif target not in state:
                    state[target] = True
                    stack.append((target, self._same_value(target)))
                elif state[target]:
                    # Only a reference can lead back; the one nearest to the end is named.
                    ring = [place for place, _ in stack]
                    ring = ring[ring.index(target) :]
                    places = [p for p in ring if p in by_place]
                    found += [by_place[p] for p in places[-1:]]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _by_place(self) -> Mapping[Path, Reference]:
        """The references that lead somewhere, by the subschemas that they stand in."""
        return {r.path[:-1]: r for r in self.references if r.target is not None}

    def _same_value(self, path: Path) -> Iterator[Path]:
        """The subschemas that a value of this one is checked against as well."""
        schema = self.subschemas[path]
        reference = self._by_place.get(path)
        if reference is not None and reference.target is not None:
            if reference.target in self.subschemas:
                yield reference.target
            if self.dialect in ("draft-04", "draft-06", "draft-07"):
                return
        if IN_PLACE.isdisjoint(schema):
            return
        for steps, inner in list_subschemas(schema):
            if steps[0] in IN_PLACE and isinstance(inner, dict):
                yield (*path, *steps)

    def list_same_value_schemas(self, path: Path = ()) -> Iterator[dict[str, Any]]:
        """A subschema and all others that apply to the same value, each once."""
        seen: set[Path] = set()
        waiting = [path] if path in self.subschemas else []
        while waiting:
            here = waiting.pop()
            if here in seen:
                continue
            seen.add(here)
            yield self.subschemas[here]
            waiting += self._same_value(here)


def _are_definitions(value: Mapping[str, Any]) -> bool:
    """Whether it is no schema but a toolset's definitions, which references name."""
    return KEYWORDS.isdisjoint(value) and all(
        isinstance(inner, dict) for inner in value.values()
    )


def _note_anchors(
    path: Path, schema: Mapping[str, Any], anchors: dict[str, Path]
) -> None:
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(schema.get(keyword), str):
            anchors.setdefault(schema[keyword], path)
    for keyword in ("$id", "id"):
        text = schema.get(keyword)
        if isinstance(text, str) and text.startswith("#"):
            anchors.setdefault(text[1:], path)

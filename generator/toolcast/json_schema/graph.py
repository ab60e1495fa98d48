"""A JSON Schema as a graph: subschemas, references, and reference cycles.

References are never followed out of the schema. All walks are iterative and linear in the
schema's size, for any value that a YAML file can contain.
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
    exceeds_path_limit,
    has_oversized_patterns,
)
from toolcast_runtime.core.validation.references import (
    IN_PLACE,
    REFERENCES,
    list_subschemas,
    resolve_pointer,
)

from ..parsing.tree import SHARED, Path
from .dialects import KEYWORDS, build_metaschema_validator, get_dialect, is_address

_MANY_PATTERNS = 50
_REFERENCE_KEYWORDS = frozenset([*REFERENCES, "$anchor", "$dynamicAnchor", "$id", "id"])


class Reference(NamedTuple):
    """A `$ref` or another reference keyword.

    Attributes:
        path: path of the keyword.
        text: the keyword's value.
        target: path of the referenced subschema, or None if this schema does not contain it.
    """

    path: Path
    text: str
    target: Path | None

    @property
    def is_local(self) -> bool:
        """Whether the reference points into its own document."""
        return self.text.startswith("#")


class _Parts(NamedTuple):
    """Result of one walk through a schema.

    Attributes:
        subschemas: see `JsonSchema.subschemas`.
        anchors: path of the subschema of each anchor.
        pointers: all references; those by anchor have no target yet.
        named: see `JsonSchema.named`.
    """

    subschemas: dict[Path, dict[str, Any]]
    anchors: dict[str, Path]
    pointers: list[Reference]
    named: list[Path]


class JsonSchema:
    """A schema, valid or not, with the properties that rules and validation use."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @cached_property
    def dialect(self) -> str | None:
        """The declared dialect, or None if `$schema` is unknown."""
        return get_dialect(self.value)

    @cached_property
    def is_valid(self) -> bool:
        """Whether the schema is valid in its dialect; false if the dialect is unknown."""
        if self.dialect is None:
            return False
        checked = build_metaschema_validator(self.dialect)
        return all(checked.is_valid(self.get_value(path)) for path in ((), *self.named))

    @property
    def named(self) -> list[Path]:
        """Paths of values that are schemas only because a reference points to them.

        Metaschemas do not validate them. Shared definitions are an example.
        """
        return self._parts.named

    @cached_property
    def is_sound(self) -> bool:
        """Whether validators can apply the schema.

        A sound schema is valid, all its references resolve without cycles, and its references
        and patterns are within the limits of validators.
        """
        return (
            self.is_valid
            and not self.invalid_ids
            and all(reference.target is not None for reference in self.references)
            and not self.loops
            and not self.multiplies
            and not self.patterns_are_too_large
        )

    @cached_property
    def work(self) -> CostEstimate:
        """Cost estimate for validating values, by the schema and its parts with a default."""
        parts_with_default = (
            subschema
            for subschema in self.subschemas.values()
            if "default" in subschema
        )
        return CostEstimate(self.value, [*parts_with_default, self.value])

    @cached_property
    def invalid_ids(self) -> tuple[Path, ...]:
        """Paths of `$id` keywords whose value is not a URI reference (RFC 3986)."""
        keyword = "id" if self.dialect == "draft-04" else "$id"
        return tuple(
            (*path, keyword)
            for path, schema in self.subschemas.items()
            if keyword in schema and not is_address(schema[keyword])
        )

    @property
    def subschemas(self) -> Mapping[Path, dict[str, Any]]:
        """All subschemas that are objects, by path; the schema itself is first.

        The target of a local reference counts as a subschema, whatever its path.
        """
        return self._parts.subschemas

    @cached_property
    def _parts(self) -> _Parts:
        found: dict[Path, dict[str, Any]] = {}
        anchors: dict[str, Path] = {}
        pointers: list[Reference] = []
        named: dict[Path, None] = {}
        pending: deque[tuple[Path, Any, bool]] = deque([((), self.value, False)])
        while pending:
            path, schema, is_named = pending.pop()
            if path in found:
                continue
            if is_named and not isinstance(schema, bool):
                named[path] = None
            if not isinstance(schema, dict):
                continue
            # `$defs/shared` contains shared definitions by name, and is not a schema.
            if path == SHARED and _is_definitions(schema):
                continue
            found[path] = schema
            children = [
                ((*path, *steps), child, False)
                for steps, child in list_subschemas(schema)
            ]
            # The deque is a stack, so the first child is pushed last.
            pending += reversed(children)
            if _REFERENCE_KEYWORDS.isdisjoint(schema):
                continue
            _collect_anchors(path, schema, anchors)
            for keyword in REFERENCES:
                text = schema.get(keyword)
                if isinstance(text, str):
                    target = self._resolve_pointer(text)
                    pointers.append(Reference((*path, keyword), text, target))
                    if target is not None:
                        # Visit targets last, so that a target that is a subschema anyway
                        # is not counted as named.
                        pending.appendleft((target, self.get_value(target), True))
        return _Parts(found, anchors, pointers, list(named))

    @cached_property
    def references(self) -> tuple[Reference, ...]:
        """All references, in the order of the schema."""
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
        """All regular expressions: path, text, and whether it is a key of an object."""
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

    def get_value(self, path: Path) -> Any:
        """Return the value at an existing path."""
        value = self.value
        for step in path:
            value = value[step]
        return value

    def _resolve_pointer(self, text: str) -> Path | None:
        """Return the path of a JSON pointer such as `#/a/b`, or None if it does not exist."""
        if text != "#" and not text.startswith("#/"):
            return None
        return resolve_pointer(self.value, unquote(text[1:]))

    @cached_property
    def declared(self) -> DeclaredNames:
        """The property names that the schema declares with any keyword."""
        return DeclaredNames(self.value)

    @cached_property
    def multiplies(self) -> bool:
        """Whether references expand to more paths than a validator can follow."""
        # Without references there are at most as many paths as values in the file.
        return bool(self.references) and exceeds_path_limit(self.value)

    @cached_property
    def patterns_are_too_large(self) -> bool:
        """Whether the patterns together are larger than a validator accepts."""
        return bool(self.patterns) and has_oversized_patterns(self.value)

    @property
    def exceeds_pattern_limit(self) -> bool:
        """Whether there are too many patterns to check each one."""
        return self.patterns_are_too_large and len(self.patterns) > _MANY_PATTERNS

    @cached_property
    def loops(self) -> tuple[Reference, ...]:
        """References that lead back to themselves without descending into the value.

        Validating any value against such a schema does not terminate. A recursive type, whose
        reference is below `properties` or `items`, is not a loop.
        """
        by_path = self._resolved_references
        if not by_path:
            return ()
        state: dict[Path, bool] = {}
        found: list[Reference] = []
        for start in self.subschemas:
            if start in state:
                continue
            state[start] = True
            stack = [(start, self._list_applied_paths(start))]
            while stack:
                current, successors = stack[-1]
                target = next(successors, None)
                if target is None:
                    state[current] = False
                    stack.pop()
                elif target not in state:
                    state[target] = True
                    stack.append((target, self._list_applied_paths(target)))
                elif state[target]:
                    # A cycle needs at least one `$ref`; of several, the last `$ref` is reported.
                    cycle = [path for path, _ in stack]
                    cycle = cycle[cycle.index(target) :]
                    with_reference = [path for path in cycle if path in by_path]
                    found += [by_path[path] for path in with_reference[-1:]]
        return tuple(dict.fromkeys(found))

    @cached_property
    def _resolved_references(self) -> Mapping[Path, Reference]:
        """The references with a target, by the path of the subschema that contains them."""
        return {r.path[:-1]: r for r in self.references if r.target is not None}

    def _list_applied_paths(self, path: Path) -> Iterator[Path]:
        """Yield the paths of subschemas that apply to the same value as the one at `path`.

        These are the target of a reference, and branches such as those of `allOf`.
        """
        schema = self.subschemas[path]
        reference = self._resolved_references.get(path)
        if reference is not None and reference.target is not None:
            if reference.target in self.subschemas:
                yield reference.target
            # Drafts before 2019-09 ignore all keywords next to `$ref`.
            if self.dialect in ("draft-04", "draft-06", "draft-07"):
                return
        if IN_PLACE.isdisjoint(schema):
            return
        for steps, child in list_subschemas(schema):
            if steps[0] in IN_PLACE and isinstance(child, dict):
                yield (*path, *steps)

    def list_applied_schemas(self, path: Path = ()) -> Iterator[dict[str, Any]]:
        """Yield a subschema and all schemas that apply to the same value, each once.

        References are followed. Nothing is yielded if `path` is not a subschema's path.
        """
        visited: set[Path] = set()
        pending = [path] if path in self.subschemas else []
        while pending:
            current = pending.pop()
            if current in visited:
                continue
            visited.add(current)
            yield self.subschemas[current]
            pending += self._list_applied_paths(current)


def _is_definitions(value: Mapping[str, Any]) -> bool:
    """Return whether a value is an object of named definitions instead of a schema."""
    return KEYWORDS.isdisjoint(value) and all(
        isinstance(definition, dict) for definition in value.values()
    )


def _collect_anchors(
    path: Path, schema: Mapping[str, Any], anchors: dict[str, Path]
) -> None:
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(schema.get(keyword), str):
            anchors.setdefault(schema[keyword], path)
    for keyword in ("$id", "id"):
        text = schema.get(keyword)
        if isinstance(text, str) and text.startswith("#"):
            anchors.setdefault(text[1:], path)

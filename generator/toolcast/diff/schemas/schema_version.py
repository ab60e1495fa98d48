"""One side of a comparison: a schema whose references are followed within itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.checker import DeclaredNames
from toolcast_runtime.core.validation.compiled import build_validator
from toolcast_runtime.core.validation.references import (
    REFERENCES,
    References,
    list_in_place,
    list_subschemas,
)

from ...json_schema.dialects import get_dialect
from ...parsing.tree import Path

ANNOTATIONS = frozenset(
    (
        "title description default examples deprecated readOnly writeOnly $comment format"
        " contentEncoding contentMediaType contentSchema $schema $id id $anchor"
        " $dynamicAnchor $recursiveAnchor $vocabulary $defs definitions"
    ).split()
)
"""The keywords that refuse no value; `format` where it is not asserted."""

Conjunction = tuple[Any, ...]
"""Schemas that all apply to one value: mappings without `$ref` and `allOf`, or False."""

_OLD = ("draft-04", "draft-06", "draft-07")
_NEWER = frozenset(
    (
        "dependentRequired dependentSchemas prefixItems minContains maxContains"
        " unevaluatedProperties unevaluatedItems"
    ).split()
)
_ALIKE = ("draft-07", "2019-09", "2020-12")
_OF_SOME_DRAFTS = _NEWER.union(
    (
        "additionalItems dependencies $dynamicRef $recursiveRef"
        " $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary"
    ).split()
)
_BESIDE_REFERENCES = ANNOTATIONS | {"$ref"}
_MAX_PARTS = 400
"""Subschemas that are collected for one location."""
_CONDITION = ("if", "then", "else")
_DEFINITIONS = ("$defs", "definitions")
_ADDRESSES = tuple(f"#/{word}/" for word in _DEFINITIONS)


class Positions(NamedTuple):
    """What a schema says of the items of an array.

    Attributes:
        first: the schemas of the first items.
        rest: the schema of all others.
    """

    first: list[Any]
    rest: Any

    def at(self, index: int) -> Any:
        """The schema of one item."""
        return self.first[index] if index < len(self.first) else self.rest


class SchemaSide:
    """A schema, before or after.

    Args:
        root: a sound schema.
        asserts_formats: whether a text has to be of its `format`.

    Attributes:
        dialect: the address that the schema declares; None without one.
        draft: the draft of that address.
        is_old: whether it is of a draft before 2019-09.
    """

    def __init__(self, root: Any, *, asserts_formats: bool = False) -> None:
        self.root = root
        self.asserts_formats = asserts_formats
        self._saying_nothing = (
            ANNOTATIONS - {"format"} if asserts_formats else ANNOTATIONS
        )
        self.references = References(root)
        self.dialect = root.get("$schema") if isinstance(root, dict) else None
        self.draft = get_dialect(root)
        self.is_old = self.draft in _OLD
        self._has_prefix = self.draft == "2020-12"
        self._conjunctions: dict[int, Conjunction] = {}

    def says(self, keyword: str) -> bool:
        """Whether a keyword can refuse a value."""
        return keyword not in self._saying_nothing

    @cached_property
    def declared(self) -> DeclaredNames:
        """The names that the runtime passes to a handler."""
        return DeclaredNames(self.root)

    @cached_property
    def places(self) -> dict[int, Path]:
        """The path of each mapping, by its identity."""
        found: dict[int, Path] = {}
        for path, mapping in _mappings(self.root):
            found.setdefault(id(mapping), path)
        return found

    @cached_property
    def has_references(self) -> bool:
        """Whether any part refers to another."""
        return has_references(self.root)

    def is_read_like(self, other: SchemaSide) -> bool:
        """Whether the keywords of both mean the same, also where the drafts differ."""
        return self.asserts_formats == other.asserts_formats and (
            self.draft == other.draft
            or (self._is_of_any_draft and other._is_of_any_draft)
        )

    @cached_property
    def _is_of_any_draft(self) -> bool:
        """Whether draft-07 and those after it read the schema in the same way."""
        if self.draft not in _ALIKE:
            return False
        waiting = [self.root]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                if not _OF_SOME_DRAFTS.isdisjoint(one):
                    return False
                if isinstance(one.get("items"), list):
                    return False
                if "$ref" in one and not _BESIDE_REFERENCES.issuperset(one):
                    return False
                waiting += [inner for _, inner in list_subschemas(one)]
        return True

    def shares_definitions(self, other: SchemaSide) -> bool:
        """Whether equal references of both sides lead to the very same schemas."""
        if not self.has_references and not other.has_references:
            return True
        mine, theirs = self.root, other.root
        if not isinstance(mine, dict) or not isinstance(theirs, dict):
            return False
        if any(mine.get(word) is not theirs.get(word) for word in _DEFINITIONS):
            return False
        return self._refers_to_definitions and other._refers_to_definitions

    @cached_property
    def _refers_to_definitions(self) -> bool:
        """Whether all references lead to what stands in `$defs` or `definitions`."""
        for _, mapping in _mappings(self.root):
            for word in REFERENCES:
                text = mapping.get(word, "#/$defs/")
                if not isinstance(text, str) or not text.startswith(_ADDRESSES):
                    return False
        return True

    def target(self, schema: Mapping[str, Any]) -> Any:
        """What the reference of a schema names; None without one or when it is not known."""
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                try:
                    return self.references.resolve(schema[keyword])
                except LookupError:
                    return None
        return None

    def conjunction(self, schema: Any) -> Conjunction:
        """A schema as all the schemas that it asks for at the same value."""
        if schema is True:
            return ()
        if not isinstance(schema, dict):
            return (False,)
        known = self._conjunctions.get(id(schema))
        if known is None:
            known = tuple(self._parts(schema))
            self._conjunctions[id(schema)] = known
        return known

    def _parts(self, schema: Any) -> list[Any]:
        found: list[Any] = []
        waiting, seen = [schema], set[int]()
        while waiting and len(found) < _MAX_PARTS:
            part = waiting.pop(0)
            if part is True or id(part) in seen:
                continue
            if not isinstance(part, dict):
                found.append(False)
                continue
            seen.add(id(part))
            target = self.target(part)
            if target is not None:
                waiting.append(target)
                if self.is_old:
                    continue
            branches = part.get("allOf")
            branches = branches if isinstance(branches, list) else []
            waiting += branches
            unknown = _NEWER if self.is_old else frozenset[str]()
            if target is None and not branches and unknown.isdisjoint(part):
                found.append(part)
                continue
            left = {
                name: value
                for name, value in part.items()
                if name != "allOf"
                and name not in unknown
                and (target is None or name not in REFERENCES)
            }
            if not self._saying_nothing.issuperset(left):
                found.append(left)
        return found

    def everything(self, *schemas: Any) -> list[dict[str, Any]]:
        """All mappings that may have a say about the same value, whatever is chosen."""
        found: list[dict[str, Any]] = []
        waiting, seen = [*schemas], set[int]()
        while waiting and len(found) < _MAX_PARTS:
            part = waiting.pop(0)
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            found.append(part)
            target = self.target(part)
            if target is not None:
                waiting.append(target)
                if self.is_old:
                    continue
            waiting += list_in_place(part)
        return found

    def cases(self, parts: Conjunction) -> list[Conjunction]:
        """What is asked in each case of the first choice or condition; empty for none."""
        for index, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            others = (*parts[:index], *parts[index + 1 :])
            for keyword in ("anyOf", "oneOf"):
                if isinstance(part.get(keyword), list):
                    left = {word: part[word] for word in part if word != keyword}
                    return [
                        (*others, left, *self.conjunction(branch))
                        for branch in part[keyword]
                    ]
            if "if" in part:
                left = {word: part[word] for word in part if word not in _CONDITION}
                when, then, other = (
                    self.conjunction(part.get(word, True)) for word in _CONDITION
                )
                return [(*others, left, *when, *then), (*others, left, *other)]
        return []

    def positions(self, schema: Mapping[str, Any]) -> Positions:
        """The items of an array, in whichever of the two ways the dialect has."""
        items = schema.get("items", True)
        if isinstance(items, list):
            return Positions(items, schema.get("additionalItems", True))
        first = schema.get("prefixItems")
        is_list = isinstance(first, list) and self._has_prefix
        return Positions(first if first and is_list else [], items)

    def dependencies(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """What comes with a name: a list of names, or a schema; each in its own pair."""
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            value = schema.get(keyword)
            if isinstance(value, dict):
                yield from value.items()


class Acceptor:
    """What a side accepts when the tool is called, or gives as its result.

    Args:
        side: the schema.
        is_closed: whether it takes objects alone, and refuses names at the top that the
            schema does not declare.
        refuses_besides: what else refuses a value.
    """

    def __init__(
        self,
        side: SchemaSide,
        *,
        is_closed: bool,
        refuses_besides: Callable[[Any], bool] | None = None,
    ) -> None:
        self.side = side
        self.is_closed = is_closed
        self._refuses_besides = refuses_besides

    @cached_property
    def parts(self) -> Conjunction:
        """All that is asked of a value."""
        parts = self.side.conjunction(self.side.root)
        if not self.is_closed:
            return parts
        declared = self.side.declared
        closed = {
            "type": "object",
            "properties": dict.fromkeys(sorted(declared.names), True),
            "patternProperties": dict.fromkeys(declared.patterns, True),
            "additionalProperties": False,
        }
        return (*parts, closed)

    @cached_property
    def _validator(self) -> Any:
        return build_validator(
            self.side.root, asserts_formats=self.side.asserts_formats
        )

    def accepts(self, value: Any) -> bool:
        """Whether a value is accepted.

        Raises:
            ValueError: the schema cannot be applied.
        """
        validator = self._validator
        try:
            if not validator.is_valid(value):
                return False
        except (ValueError, TypeError):
            return False  # A pattern that gives up accepts nothing.
        if self.is_closed and not isinstance(value, dict):
            return False
        if self.is_closed and self.side.declared.find_undeclared(value):
            return False
        return self._refuses_besides is None or not self._refuses_besides(value)


def is_silent(told: Collection[Mapping[str, Any]]) -> bool:
    """Whether all that is told of an object lists names, and says nothing of others.

    Nobody was told to send another name then, though nothing refuses it. Where a schema says
    `additionalProperties`, or lists no properties, names are free.
    """
    words = ("additionalProperties", "unevaluatedProperties")
    is_open = any(one.get(word, False) is not False for one in told for word in words)
    return not is_open and any(one.get("properties") for one in told)


def schemas_under(
    part: Mapping[str, Any], name: str, *, others: bool = True
) -> list[Any]:
    """The schemas that one has for what stands under a name, or under all other names."""
    properties = part.get("properties", {})
    found = [properties[name]] if name in properties else []
    for pattern, schema in part.get("patternProperties", {}).items():
        if matches(pattern, name):
            found.append(schema)
    if others and not found and "additionalProperties" in part:
        found.append(part["additionalProperties"])
    return found


def has_references(value: Any) -> bool:
    """Whether a schema, or a list of them, has a reference anywhere."""
    return any(
        word in mapping for _, mapping in _mappings(value) for word in REFERENCES
    )


def _mappings(value: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """All mappings in a value, each with the way to it."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, dict):
            yield path, one
            waiting += [((*path, name), inner) for name, inner in one.items()]
        elif isinstance(one, list):
            waiting += [((*path, index), inner) for index, inner in enumerate(one)]


@lru_cache(maxsize=4096)
def matches(pattern: str, text: str) -> bool:
    """Whether a text has a match of a pattern, by the engine that the runtime uses."""
    try:
        return bool(_matcher(pattern).is_valid(text))
    except ValueError:
        return False


@lru_cache(maxsize=512)
def _matcher(pattern: str) -> Any:
    return build_validator({"pattern": pattern})

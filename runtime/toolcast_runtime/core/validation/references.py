"""The keywords of JSON Schema that hold schemas, and what its references lead to.

JSON Schema 2020-12, core, section 10 (https://json-schema.org/draft/2020-12), with
`dependencies`, `definitions` and `additionalItems` of the drafts before. References are
followed in every dialect, and never out of the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords whose value names another schema."""

IN_PLACE = frozenset(
    "not if then else allOf anyOf oneOf dependentSchemas dependencies".split()
)
"""Those whose schemas are for the same value, but for references."""

_LISTED = frozenset("allOf anyOf oneOf prefixItems".split())
_NAMED = frozenset(
    "properties patternProperties $defs definitions dependentSchemas dependencies".split()
)
# Of each row at most one schema applies to one inner value.
_DISJOINT = (
    ("properties", "additionalProperties"),
    ("prefixItems", "items", "additionalItems"),
)
_BESIDES = (
    "patternProperties propertyNames contains unevaluatedProperties unevaluatedItems"
).split()
_HOLDING = IN_PLACE | _LISTED | _NAMED | {*_DISJOINT[0], *_DISJOINT[1], *_BESIDES}
_HOLDING |= {"contentSchema"}
_ANCHORS = ("$anchor", "$dynamicAnchor")
_IDS = ("$id", "id")

Step = str | int


def held_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """The schemas that a schema holds, each with the steps to it, in their order.

    What stands where a schema belongs is among them, whatever it is.
    """
    for keyword in schema:
        if keyword in _HOLDING:
            yield from _held(schema, keyword)


def in_place(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas within one that a value of it may be checked against as well.

    All but that of `not`, which says what the value must not be, and of references.
    """
    for keyword in schema:
        if keyword in IN_PLACE and keyword != "not":
            yield from inner_schemas(schema, keyword)


def inner_schemas(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """The schemas that a keyword holds: one, a list of them, or some by name."""
    return [inner for _, inner in _held(schema, keyword)] if keyword in schema else []


def schemas_below(schema: Mapping[str, Any]) -> tuple[list[list[Any]], list[Any]]:
    """The schemas for the values within one.

    Returns:
        Groups of which one schema at most applies to each, and those that apply besides.
    """
    if _HOLDING.isdisjoint(schema):
        return [], []
    groups = [
        [p for keyword in row for p in inner_schemas(schema, keyword)]
        for row in _DISJOINT
    ]
    return groups, [p for keyword in _BESIDES for p in inner_schemas(schema, keyword)]


def reached(
    schemas: Iterable[Any], more: Callable[[Mapping[str, Any]], Iterable[Any]]
) -> Iterator[Mapping[str, Any]]:
    """The schemas that some lead to, step by step, they themselves first; each once."""
    waiting, known = list(schemas), set[int]()
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and id(part) not in known:
            known.add(id(part))
            yield part
            waiting.extend(more(part))


def objects_within(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every object in a JSON value, each before those within it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            continue  # as most are
        if isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, (dict, Mapping)):
            yield part
            waiting.extend(part.values())


def _held(
    schema: Mapping[str, Any], keyword: str
) -> Iterator[tuple[tuple[Step, ...], Any]]:
    value = schema[keyword]
    if keyword in _NAMED:
        for name in value if isinstance(value, Mapping) else ():
            yield (keyword, name), value[name]
    elif isinstance(value, (list, tuple)) and keyword in (*_LISTED, "items"):
        for index, inner in enumerate(value):
            yield (keyword, index), inner
    elif keyword not in _LISTED:
        yield (keyword,), value


class References:
    """The places of a schema by all the ways in which a reference can name them.

    A JSON pointer (`#/$defs/a`), an anchor (`#a`, by `$anchor`, `$dynamicAnchor`, `$id` of
    draft-06 and draft-07, `id` of draft-04), and the address that a part gives itself by
    `$id` or `id`, from which pointers of that part start.

    Args:
        root: the schema, valid or not.
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    def same_value(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """The schemas that a value of this one may be checked against as well.

        All but that of `not`, which says what the value must not be.

        Raises:
            LookupError: a reference leads nowhere in this schema.
        """
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield self.target(schema[keyword])
        yield from in_place(schema)

    def named(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """All that the references of one schema may name; nothing for those to nothing."""
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield from self.targets(schema[keyword])

    def tried(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """The schemas that a validator may try a value of this one by: that of `not`, too."""
        yield from self.named(schema)
        yield from inner_schemas(schema, "not")
        yield from in_place(schema)

    def target(self, reference: str) -> Any:
        """What a reference names.

        Raises:
            LookupError: it leads out of the schema, nowhere, or to one of several.
        """
        found = self.targets(reference)
        if len(found) != 1:
            raise LookupError(reference)
        return found[0]

    def targets(self, reference: str) -> list[Any]:
        """Everything that a reference may name; which one can depend on the value.

        Returns:
            Nothing for a reference out of the schema, or to nothing.
        """
        address, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        anchors, resources = self._names
        bases = [self._root, *resources.values()] if not address else []
        if address:
            last = address.rpartition("/")[2]
            bases = [
                part
                for own, part in resources.items()
                if own == address or own.rpartition("/")[2] == last
            ]
        if not fragment:
            return bases if address else bases[:1]
        if fragment.startswith("/"):
            found = [_pointed(base, fragment) for base in bases]
        else:
            found = anchors.get(fragment, [])
        return _distinct(part for part in found if part is not None)

    @cached_property
    def _names(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """The parts by their anchors, and by the addresses that they give themselves."""
        anchors: dict[str, list[Any]] = {}
        resources: dict[str, Any] = {}
        for part in objects_within(self._root):
            for keyword in _ANCHORS:
                if isinstance(part.get(keyword), str):
                    anchors.setdefault(part[keyword], []).append(part)
            for keyword in _IDS:
                if isinstance(part.get(keyword), str):
                    address, _, anchor = part[keyword].partition("#")
                    if anchor:
                        anchors.setdefault(anchor, []).append(part)
                    if address:
                        resources[address] = part
        return anchors, resources


def pointer(steps: Iterable[Step]) -> str:
    """The JSON pointer (RFC 6901) of some steps."""
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    return "".join(f"/{step}" for step in escaped)


def mapping(value: Any) -> Mapping[str, Any]:
    """What stands where an object belongs; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def steps_of(base: Any, pointer: str) -> tuple[str | int, ...] | None:
    """The steps of a JSON pointer (RFC 6901) through a value; None when it leads nowhere."""
    found, steps = base, list[str | int]()
    for step in pointer.split("/")[1:]:
        name: str | int = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, (list, tuple)):
            name = int(step) if step.isdecimal() and len(step) < 9 else len(found)
            if name >= len(found):
                return None
        elif not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
        steps.append(name)
    return tuple(steps)


def _pointed(base: Any, pointer: str) -> Any:
    steps = steps_of(base, pointer)
    if steps is None:
        return None
    for step in steps:
        base = base[step]
    return base


def _distinct(parts: Iterator[Any]) -> list[Any]:
    return list({id(part): part for part in parts}.values())

"""What checking a value against a schema can cost, found before it is done.

A validator holds the interpreter's lock, so that no deadline ends what it has begun. Its
work is bounded here from above: by the schema and the size of the value alone where that
suffices, place by place where it does not. Times are in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .applicators import in_place, inner_schemas, schemas_below
from .json_bounds import Size, measure
from .own_work import Bound, OwnWork, own_work, pairs
from .references import REFERENCES, References

MOST_MILLISECONDS = 35
"""Of one pass over a value."""

_MOST = MOST_MILLISECONDS * 1_000_000.0
_MOST_PLACES = 6_000
_MOST_ROUNDS = 60
_BEYOND = 1e15
_UNEVALUATED = 150.0
# What it takes to find out.
_GLANCE = 1_500.0
_MEASURED = 30.0
_CHOICES = frozenset(("anyOf", "oneOf"))
_REST = frozenset(("unevaluatedProperties", "unevaluatedItems"))


_Applied = tuple[int, Any, str | int | None]
"""A schema, a value that it applies to, and the step to it from the value that holds it."""


class _Part(NamedTuple):
    """A subschema.

    Attributes:
        schema: itself.
        own: what it costs by itself.
        same: the schemas that apply to the same value.
        disjoint: groups of schemas of which one at most applies to one inner value.
        overlapping: the schemas that apply to inner values besides.
        has_rest: whether it looks for what other schemas have not evaluated.
    """

    schema: Mapping[str, Any]
    own: OwnWork
    same: tuple[int, ...]
    disjoint: tuple[tuple[int, ...], ...]
    overlapping: tuple[int, ...]
    has_rest: bool


class Work:
    """What checking values against one schema can cost.

    Args:
        schema: any, valid or not.

    Attributes:
        has_alternatives: whether an error can hold those of alternatives.
        most_options: values in the largest `enum` or constant, which errors copy.
        most_missing: errors that there can be at one place for names that are missing.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._references = References(schema)
        self._parts = self._read()
        self._bounds = self._bound()
        parts = self._parts.values()
        self._has_unique = any(part.own.is_unique for part in parts)
        self.has_alternatives = any(not _CHOICES.isdisjoint(p.schema) for p in parts)
        self.most_options = max((_options(part.schema) for part in parts), default=1)
        self.most_missing = (
            max((part.own.most_missing for part in parts), default=0) or 1
        )

    def excess(self, value: Any, size: Size, part: Any = None) -> str | None:
        """Why a value takes too long to check, in words; None when it does not.

        Args:
            value: a JSON value.
            size: its size.
            part: the subschema that it is checked by; by default the whole schema.
        """
        key = id(self._schema if part is None else part)
        if key not in self._bounds:
            return None  # no more than `true` and `false`
        bound = self._bounds[key].of(size)
        if self._has_unique:
            bound += size.levels * pairs(size)
        return None if bound <= _MOST else self._walked(key, value, size)

    def _walked(self, key: int, value: Any, size: Size) -> str | None:
        """The same, place by place."""
        spent = _Spent()
        with_pairs = self._has_unique and bool(size.large_integers)
        places: dict[tuple[int, str | int], int] = {}
        seen: set[tuple[int, int]] = set()
        measured, inner = value, size
        start: Iterator[_Applied] = iter([(key, value, None)])
        waiting = [(0, start)]
        while waiting and not spent.is_too_much:
            place, applied = waiting[-1]
            key, item, step = next(applied, (0, None, None))
            if not key:
                waiting.pop()
                continue
            bound = self._bounds[key]
            if bound.is_light and not with_pairs:
                # It may stand below many alternatives, and is the same for each.
                if item is not measured:
                    measured, inner = item, measure(item)
                    spent.add("", _MEASURED * inner.values)
                spent.add("", _GLANCE + bound.of(inner))
                continue
            if step is not None:
                place = places.setdefault((place, step), len(places) + 1)
            # What references lead to again at one place is known by then.
            if (key, place) not in seen:
                seen.add((key, place))
                part = self._parts[key]
                spent.look(part.own.at(item))
                waiting.append((place, self._inner(part, item, spent)))
        return spent.excess

    def _inner(self, part: _Part, item: Any, spent: _Spent) -> Iterator[_Applied]:
        """The schemas that apply to a value as well, or to what it holds."""
        yield from ((same, item, None) for same in part.same)
        if isinstance(item, dict):
            yield from self._members(part, item, spent)
        elif isinstance(item, (list, tuple)):
            yield from self._items(part, item, spent)

    def _members(
        self, part: _Part, item: Mapping[str, Any], spent: _Spent
    ) -> Iterator[_Applied]:
        schema = part.schema
        declared = _mapping(schema.get("properties"))
        every = _ids([*_mapping(schema.get("patternProperties")).values()])
        names = _ids([schema.get("propertyNames")])
        if "unevaluatedProperties" in schema:
            ways = _UNEVALUATED * len(item) * (1 + len(part.same))
            spent.add("unevaluatedProperties", ways)
            every += _ids([schema["unevaluatedProperties"]])
        others = _ids([schema.get("additionalProperties")])
        anything = bool(every or names or others)
        for name in item if anything else declared.keys() & item.keys():
            own = _ids([declared[name]]) if name in declared else others
            yield from ((key, item[name], name) for key in (*own, *every))
            yield from ((key, name, name) for key in names)

    def _items(
        self, part: _Part, item: Sequence[Any], spent: _Spent
    ) -> Iterator[_Applied]:
        schema = part.schema
        first, following = schema.get("prefixItems"), schema.get("items")
        if isinstance(following, (list, tuple)):
            first, following = following, schema.get("additionalItems")
        first = first if isinstance(first, (list, tuple)) else ()
        every = _ids([schema.get("contains"), schema.get("unevaluatedItems")])
        if "unevaluatedItems" in schema:
            ways = _UNEVALUATED * len(item) * (1 + len(part.same))
            spent.add("unevaluatedItems", ways)
        others = _ids([following])
        anything = bool(every or others)
        for index, member in enumerate(item if anything else item[: len(first)]):
            own = _ids([first[index]]) if index < len(first) else others
            yield from ((key, member, index) for key in (*own, *every))

    def _read(self) -> dict[int, _Part]:
        """Every subschema, those that contain others before them."""
        parts: dict[int, _Part] = {}
        waiting = [self._schema]
        while waiting:
            schema = waiting.pop()
            if not isinstance(schema, Mapping) or id(schema) in parts:
                continue
            same = list(self._same_place(schema))
            disjoint, overlapping = schemas_below(schema)
            parts[id(schema)] = _Part(
                schema,
                own_work(schema),
                _ids(same),
                tuple(map(_ids, disjoint)),
                _ids(overlapping),
                not _REST.isdisjoint(schema),
            )
            waiting += [*same, *(p for group in disjoint for p in group), *overlapping]
        return parts

    def _same_place(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield from self._references.targets(schema[keyword])
        yield from inner_schemas(schema, "not")
        yield from in_place(schema)

    def _bound(self) -> dict[int, Bound]:
        """The most that one value, character or number costs at any place below a schema.

        Where references lead around, this grows round by round; what does not come to rest
        has no bound.
        """
        here = dict.fromkeys(self._parts, Bound())
        below, worst = dict(here), dict(here)
        changed: set[int] = set()
        for _ in range(_MOST_ROUNDS):
            changed.clear()
            for key, part in reversed(self._parts.items()):
                here[key] = Bound.sum((part.own.bound, *(here[s] for s in part.same)))
                if part.has_rest:
                    ways = _UNEVALUATED * (1 + len(part.same))
                    here[key] = here[key]._replace(value=here[key].value + ways)
                groups = (
                    Bound.most(worst[inner] for inner in group)
                    for group in part.disjoint
                )
                below[key] = Bound.sum(
                    (
                        Bound.most(groups),
                        *(worst[inner] for inner in part.overlapping),
                        *(below[s] for s in part.same),
                    )
                )
                found = Bound.at_any(here[key], below[key])
                if found != worst[key]:
                    worst[key] = found
                    changed.add(key)
            if not changed:
                break
        worst.update((key, Bound(_BEYOND)) for key in changed)
        return worst


class _Spent:
    """What is spent so far, and on what."""

    def __init__(self) -> None:
        self.places = 0
        self._total = 0.0
        self._on: dict[str, float] = {}

    def look(self, costs: Iterable[tuple[str, float]]) -> None:
        """Looks at one place, with the costs of its keywords."""
        self.places += 1
        for keyword, cost in costs:
            self.add(keyword, cost)

    def add(self, keyword: str, cost: float) -> None:
        """Spends some time; `keyword` is empty for the plain look at a value."""
        self._total += cost
        self._on[keyword] = self._on.get(keyword, 0.0) + cost

    @property
    def is_too_much(self) -> bool:
        """Whether it is more than one value may cost."""
        return self._total > _MOST or self.places > _MOST_PLACES

    @property
    def excess(self) -> str | None:
        """What to tell the caller; None when it is not too much."""
        if not self.is_too_much:
            return None
        keyword = max(self._on, key=lambda name: self._on[name] * bool(name))
        if self._on[keyword] < self._total / 10:
            keyword = ""
        what = f"its `{keyword}`" if keyword else "so many values"
        return (
            f"it takes more than {MOST_MILLISECONDS} ms to check {what}:"
            " send fewer values or shorter texts"
        )


def _options(schema: Mapping[str, Any]) -> int:
    listed = schema.get("enum")
    listed = list(listed) if isinstance(listed, (list, tuple)) else []
    return max(1, measure([*listed, schema.get("const")]).values)


def _ids(schemas: Sequence[Any]) -> tuple[int, ...]:
    return tuple(id(schema) for schema in schemas if isinstance(schema, Mapping))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

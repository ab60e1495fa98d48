"""Calls that were accepted and are not any more, and results that could not come before.

They are made from what both schemas say plainly: defaults, examples, listed values, limits
and one beyond, one property at a time. Each is tried with the validators of both sides
before it is shown. That none is found says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS, build_validator
from toolcast_runtime.core.validation.limits import count_max_visits

from ..change import ABSENT
from .schema_version import Acceptor, Conjunction, SchemaSide, is_silent, schemas_under
from .value_limits import EXACT, ValueLimits, type_of

_MAX_WORK_UNITS = 100_000
"""Work on the examples of one comparison, counted in visited schema locations."""
_MAX_EXAMPLES = 600
"""Examples that are validated in one comparison."""
_MAX_VISITS = 500
"""Paths through references to one location; with more, no example is validated."""
_LEVELS = 6
_MAX_DEPTH = 5
"""Levels of an example."""
_MAX_VALUES = 40
"""Values that are tried for one location."""
_MAX_NAMES = 60
"""Properties of an object, and leading items of an array, that are varied."""
_MAX_LENGTH = 1_000
"""Items of an example array, and characters of an example string."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_PLAIN: dict[str, list[Any]] = {
    "string": ["a", "", "A 1"],
    "integer": [1, 0, -1, 2, 10],
    "fraction": [0.5, 1.5, -0.5],
    "boolean": [True, False],
    "null": [None],
}


def examples(
    sender: Acceptor,
    receiver: Acceptor,
    changes: Mapping[int, SchemaSide],
    suspects: Sequence[int],
) -> tuple[dict[int, Any], Any]:
    """What each change refuses, and what all of them refuse and none alone; ABSENT for none.

    Args:
        sender: whose values come.
        receiver: who may refuse them.
        changes: what the receiver's schema would be with each change alone, by its index.
        suspects: those that make it narrower by their kind; others are named only for what
            none of these refuses.
    """
    found: dict[int, Any] = {}
    other: Any = ABSENT
    alone: dict[int, Acceptor] = {}
    try:
        sender.accepts(None)
        receiver.accepts(None)
        for index, side in changes.items():
            is_whole = side is receiver.side
            one = Acceptor(side, is_closed=receiver.is_closed)
            alone[index] = receiver if is_whole else one
            alone[index].accepts(None)
    except ValueError:
        return {}, ABSENT
    most = min(_budget(sender.side), _budget(receiver.side))
    for value in islice(_Candidates(sender.side, receiver.side).values(), most):
        if receiver.accepts(value) or not sender.accepts(value):
            continue
        if not _are_names_told(sender.side, [sender.side.root], value):
            continue
        refusing = [i for i, one in alone.items() if not one.accepts(value)]
        if not refusing and other is ABSENT:
            other = value
        blamed = [i for i in refusing if i in suspects]
        for index in blamed or refusing:
            found.setdefault(index, value)
        if suspects and found.keys() >= set(suspects):
            break
    return found, ABSENT if found else other


def _budget(side: SchemaSide) -> int:
    """How many values are tried: none where references multiply."""
    visits: int | None = 1
    if side.has_references:
        visits = count_max_visits(side.root, _LEVELS, _MAX_VISITS)
    if visits is None:
        return 0
    return min(_MAX_EXAMPLES, _MAX_WORK_UNITS // (len(side.places) + 1 + 10 * visits))


def _are_names_told(side: SchemaSide, schemas: list[Any], value: Any) -> bool:
    """Whether who sends a value was told of each name in it.

    Where its schema is silent about other names than it lists, an object has these alone.
    """
    told = side.everything(*schemas)
    if isinstance(value, list):
        rows = [side.positions(part) for part in told]
        contained = [part["contains"] for part in told if "contains" in part]
        return all(
            _are_names_told(side, [*contained, *(row.at(i) for row in rows)], item)
            for i, item in enumerate(value)
            if isinstance(item, (list, dict))
        )
    if not isinstance(value, dict):
        return True
    has_others = not is_silent(told)
    for name, inner in value.items():
        under = [s for p in told for s in schemas_under(p, name, others=False)]
        if not under and not has_others:
            return False
        others = "additionalProperties"
        under = under or [part[others] for part in told if others in part]
        if not _are_names_told(side, under, inner):
            return False
    return True


class _Candidates:
    """Values that the sender may send and the receiver may refuse."""

    def __init__(self, sender: SchemaSide, receiver: SchemaSide) -> None:
        self._sender, self._receiver = sender, receiver
        self._left = _MAX_WORK_UNITS // 20

    def values(self) -> Iterator[Any]:
        """Values of the whole."""
        sent = self._sender.conjunction(self._sender.root)
        seen: set[str] = set()
        for value in self._of(sent, [self._receiver.root], 0):
            if (text := repr(value)) not in seen:
                seen.add(text)
                yield value

    def _of(self, sent: Conjunction, taken: list[Any], depth: int) -> Iterator[Any]:
        self._left -= 1
        if depth > _MAX_DEPTH or self._left < 0:
            return
        cases = self._sender.cases(sent)[:_MAX_VALUES]
        if cases:
            yield from _in_turn(self._of(case, taken, depth + 1) for case in cases)
            return
        limits = ValueLimits(sent)
        said = [*limits.parts, *self._receiver.everything(*taken)]
        groups = [_listed(limits, said)]
        for kind in ("string", "integer", "fraction", "boolean", "null"):
            if kind in limits.types:
                groups.append(iter(_near(kind, said)))
        if "array" in limits.types:
            groups.append(self._arrays(limits, said, depth))
        if "object" in limits.types:
            groups.append(self._objects(limits, said, depth))
        yield from _in_turn(groups)

    def _first(self, sent: Conjunction, values: list[Any]) -> Any:
        """The first of some values that the sender's schemas accept; else the first."""
        words = ("$schema", "$defs", "definitions")
        root = self._sender.root if isinstance(self._sender.root, dict) else {}
        shared = {word: root[word] for word in words if word in root}
        try:
            is_valid = build_validator({**shared, "allOf": list(sent)}).is_valid
            return next(filter(is_valid, values), values[0])
        except ValueError:
            return values[0]  # It refers to something that is not there.

    def _objects(
        self, limits: ValueLimits, said: list[Mapping[str, Any]], depth: int
    ) -> Iterator[Any]:
        """The least object, and it with one property more."""
        told = [*self._sender.everything(*limits.parts), *said]
        names = dict.fromkeys(sorted(limits.required))
        names |= dict.fromkeys(n for part in told for n in part.get("properties", {}))
        names["other"] = None
        made: dict[str, list[Any]] = {}
        schemas: dict[str, Conjunction] = {}
        for name in islice(names, _MAX_NAMES):
            sent = [s for part in limits.parts for s in schemas_under(part, name)]
            taken = [s for part in said for s in schemas_under(part, name)]
            schemas[name] = tuple(
                part for schema in sent for part in self._sender.conjunction(schema)
            )
            found = self._of(schemas[name], taken, depth + 1)
            made[name] = list(islice(found, _MAX_VALUES)) or ["a"]
        least = {
            name: self._first(schemas[name], made[name])
            for name in made
            if name in limits.required
        }
        full = {name: least.get(name, values[0]) for name, values in made.items()}
        while len(least) < min(limits.least("minProperties"), len(full)):
            name = next(name for name in full if name not in least)
            least[name] = full[name]
        yield least
        yield from ({**least, name: made[name][0]} for name in made)
        yield full
        for rank in range(1, _MAX_VALUES):
            for name, values in made.items():
                for value in values[rank : rank + 1]:
                    yield {**least, name: value}
        yield from ({n: v for n, v in full.items() if n != name} for name in full)

    def _arrays(
        self, limits: ValueLimits, said: list[Mapping[str, Any]], depth: int
    ) -> Iterator[Any]:
        """The least array, with other items, and with more of them."""
        own = [self._sender.positions(part) for part in limits.parts]
        theirs = [self._receiver.positions(part) for part in said]
        first = max((len(one.first) for one in (*own, *theirs)), default=0)
        rows: list[list[Any]] = []
        for index in range(min(first, _MAX_NAMES) + 1):
            sent, taken = ([one.at(index) for one in of] for of in (own, theirs))
            parts = tuple(p for s in sent for p in self._sender.conjunction(s))
            values = islice(self._of(parts, taken, depth + 1), _MAX_VALUES)
            rows.append(list(values) or ["a"])
        fewest = min(int(limits.least("minItems")), _MAX_LENGTH)
        least = [rows[min(i, len(rows) - 1)][0] for i in range(max(first, fewest, 1))]
        others = (
            [*least[:index], value, *least[index + 1 :]]
            for index, row in enumerate(rows[: len(least)])
            for value in row
        )
        sized = _of_sizes(rows, {0, first + 1}, said)
        yield from _in_turn((sized, others))


def _of_sizes(
    made: list[list[Any]], sizes: set[int], said: Iterable[Mapping[str, Any]]
) -> Iterator[Any]:
    """Arrays at the limits of how many items they have: all the same, and such as differ."""
    for part in said:
        for word in (
            "minItems",
            "maxItems",
            "minContains",
            "maxContains",
            "uniqueItems",
        ):
            if word in part:
                sizes |= {int(part[word]) + step for step in (-1, 0, 1)}
    for size in sorted(size for size in sizes if 0 <= size <= _MAX_LENGTH):
        rows = [made[min(i, len(made) - 1)] for i in range(size)]
        for step in range(2):
            yield [row[i * step % len(row)] for i, row in enumerate(rows)]


def _listed(limits: ValueLimits, said: Iterable[Mapping[str, Any]]) -> Iterator[Any]:
    """What schemas name as values."""
    yield from (limits.values or ())[:_MAX_VALUES]
    for part in said:
        yield from (part[word] for word in ("default", "const") if word in part)
        for word in ("examples", "enum"):
            if isinstance(part.get(word), list):
                yield from part[word][:_MAX_VALUES]


def _near(kind: str, said: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Plain values of a type: at the limits, beside them, and others."""
    found: list[Any] = list(_PLAIN[kind][:1])
    for part in said:
        if kind == "string":
            sizes = [part[word] for word in ("minLength", "maxLength") if word in part]
            near = [int(size) + step for size in sizes for step in (0, 1, -1)]
            found += ["a" * size for size in near if 0 <= size <= _MAX_LENGTH]
            if part.get("format") in ASSERTED_FORMATS:
                found.append(ASSERTED_FORMATS[part["format"]].example)
        elif kind in ("integer", "fraction"):
            steps = (0, 1, -1) if kind == "integer" else (0, 0.5, -0.5)
            bounds = [part[word] for word in _BOUNDS if word in part]
            divisor = part.get("multipleOf", 0)
            numbers = [
                number for number in (*bounds, divisor) if type_of(number) in _NUMBERS
            ]
            numbers += [2 * divisor, 3 * divisor] if divisor else []
            for number in numbers:
                if abs(number) < EXACT and math.isfinite(number):
                    base = int(number // 1) if kind == "integer" else number
                    found += [base + step for step in steps]
    return [v for v in (*found, *_PLAIN[kind]) if type_of(v) == kind]


_NUMBERS = ("integer", "fraction")


def _in_turn(groups: Iterable[Iterator[Any]]) -> Iterator[Any]:
    """One value of each group, then the next of each."""
    for row in zip_longest(*groups, fillvalue=ABSENT):
        yield from (value for value in row if value is not ABSENT)

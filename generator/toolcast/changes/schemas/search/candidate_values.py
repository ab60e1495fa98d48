"""Values that tell two schemas apart, if any do: from the limits, lists and examples of both.

They are tried, not trusted: most are valid by one of the schemas, some by none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product, zip_longest
from typing import Any

from toolcast_runtime.validation.compiled import build

from ...change import ABSENT
from ...json_equality import key_of, same
from ..proof.effort import Effort
from ..schema_side import Conjunction, SchemaSide, has_references, matches
from ..value_limits import ALL_TYPES, ValueLimits, type_of
from .candidate_objects import object_candidates
from .plain_candidates import (
    MOST_LISTED,
    PLAIN,
    is_number_within,
    listed_values,
    numbers,
    texts,
)

__all__ = ["Candidates"]

_MOST_STEPS = 3_000
_MOST_STEPS_AT = 1_000
_MOST_INNER = 4_000
_MOST_BUILDS = 60
_MOST_VALUES = 80
_MOST_VIEWS = 12
_DEEPEST = 6
_MOST_ITEMS = 300
_SAME = 3
_ORDER = ("string", "integer", "fraction", "boolean", "array", "object", "null")
_CASES = ("anyOf", "oneOf")


class Candidates:
    """Makes values of a sender's schema near what a receiver's refuses.

    Args:
        sender: the side whose values are wanted.
        receiver: the side that may refuse them.
        effort: what it may take, with other searches.
        is_checked: whether a value within another is checked before it is used.
    """

    def __init__(
        self,
        sender: SchemaSide,
        receiver: SchemaSide,
        effort: Effort,
        *,
        is_checked: bool = False,
    ) -> None:
        self._effort = effort
        self._is_checked = is_checked
        self._builds = 0
        self.sender = sender
        self.receiver = receiver
        self._left = 0
        self._inner = _MOST_INNER
        # Equal schemas mean the same where none of them refers to something.
        self._shares = sender.shares_definitions(receiver)
        self._with_references: dict[int, bool] = {}
        self._known: dict[tuple[int, int], list[Any]] = {}
        # What is made here is kept, so that no identity comes twice.
        self._kept: list[Any] = []

    def spend(self, steps: int) -> bool:
        """Whether there is time for some more."""
        self._left -= steps
        self._effort.left -= steps
        return self._left >= 0 and self._effort.left >= 0

    def merged(self, schemas: Sequence[Any], *, any_of: bool = False) -> Any:
        """One schema for several of one value."""
        if len(schemas) < 2:
            return schemas[0] if schemas else True
        made = {"anyOf" if any_of else "allOf": list(schemas)}
        self._kept.append(made)
        return made

    def values(self, sent: Any, taken: Any, depth: int = 0) -> list[Any]:
        """Values to try at one place, those first that the sender probably has."""
        key = (id(sent), id(taken))
        if key not in self._known:
            self._known[key] = []  # What holds itself is not followed again.
            self._kept += (sent, taken)
            # Each place has its share, so that none leaves no time for others.
            left = self._left
            self._left = share = min(self._inner, _MOST_STEPS_AT >> depth)
            self._known[key] = self._made(sent, taken, depth)
            self._inner -= share - max(0, self._left)
            self._left = left
        return self._known[key]

    def of_roots(self) -> Iterator[Any]:
        """Values of the whole schemas, made while they are asked for."""
        sent, taken = self.sender.root, self.receiver.root
        self._known[id(sent), id(taken)] = []
        hints = self._hints(sent, taken)
        groups: list[Iterator[Any]] = []
        for view in self.views(sent):
            groups += self._groups(ValueLimits(view), hints, 0)
        seen: set[str] = set()
        self._left = _MOST_STEPS
        while groups:
            for group in list(groups):
                value = next(group, ABSENT)
                if value is ABSENT or not self.spend(1):
                    groups.remove(group)
                elif (text := repr(value)) not in seen:
                    seen.add(text)
                    yield value

    def are_same(self, sent: Any, taken: Any) -> bool:
        """Whether both sides say the same of a place."""
        return same(sent, taken) and (self._shares or not self._refers(sent))

    def _refers(self, schema: Any) -> bool:
        known = self._with_references.get(id(schema))
        if known is None:
            known = self._with_references[id(schema)] = has_references(schema)
            self._kept.append(schema)
        return known

    def _made(self, sent: Any, taken: Any, depth: int) -> list[Any]:
        is_same = self.are_same(sent, taken)
        most = _SAME if is_same else _MOST_VALUES
        hints = [] if is_same else self._hints(sent, taken)
        # What is checked may leave few: more is made.
        enough = _MOST_VALUES if self._is_checked else most
        probable: list[list[Any]] = []
        others: list[list[Any]] = []
        seen: set[str] = set()
        for view in self.views(sent):
            limits = ValueLimits(view)
            for group in self._groups(limits, hints, depth):
                good: list[Any] = []
                bad: list[Any] = []
                for value in group:
                    is_enough = (
                        len(good) >= enough or len(good) + len(bad) >= _MOST_VALUES
                    )
                    if is_enough or not self.spend(1):
                        break
                    text = repr(value)
                    if text not in seen:
                        seen.add(text)
                        (good if self.is_probable(value, limits) else bad).append(value)
                probable.append(good)
                others.append(bad)
        found = _in_turn(probable)
        if self._is_checked:
            found = self._valid_first(sent, found + _in_turn(others))
        elif not is_same:
            found += _in_turn(others)
        return found[: most if is_same else 2 * most]

    def _valid_first(self, schema: Any, values: list[Any]) -> list[Any]:
        """The values in an order in which those that the sender has come first."""
        self._builds += 1
        if not isinstance(schema, dict) or self._builds > _MOST_BUILDS:
            return values
        root = self.sender.root
        words = ("$schema", "$defs", "definitions")
        shared = {word: root[word] for word in words if word in root}
        try:
            is_valid = build({**shared, "allOf": [schema]}).is_valid
            return sorted(values, key=lambda value: not is_valid(value))
        except ValueError:
            return values  # It refers to something else.

    def _hints(self, sent: Any, taken: Any) -> list[dict[str, Any]]:
        """All that may have a say besides: the receiver's, and what either refuses."""
        found = self.receiver.everything(taken)
        for part in (*found, *self.sender.everything(sent)):
            if "not" in part:
                found += self.receiver.everything(part["not"])
        return found

    def views(self, schema: Any) -> Iterator[Conjunction]:
        """What a schema asks for, with each of its alternatives in turn."""
        parts = self.sender.conjunction(schema)
        yield from islice(self._choices(parts, 3), _MOST_VIEWS)

    def _choices(self, parts: Conjunction, levels: int) -> Iterator[Conjunction]:
        groups: list[list[Any]] = []
        for part in parts:
            if not isinstance(part, dict):
                continue
            groups += [
                part[word] for word in _CASES if isinstance(part.get(word), list)
            ]
            if "if" in part:
                then = self.merged([part["if"], part.get("then", True)])
                groups.append([part.get("else", True), then])
            for name, wanted in self.sender.dependencies(part):
                asked = {"required": wanted} if isinstance(wanted, list) else wanted
                groups.append([True, self.merged([{"required": [name]}, asked])])
        if not groups or levels == 0:
            yield parts
            return
        # Each alternative once; what they are together with is the first of the others.
        picks = [tuple(0 for _ in groups)]
        for index, group in enumerate(groups):
            picks += [
                tuple(i if at == index else 0 for at in range(len(groups)))
                for i in range(1, min(len(group), _MOST_VIEWS))
            ]
        if len(groups) > 1:
            sizes = [range(min(len(group), 3)) for group in groups[:3]]
            rest = (0,) * max(0, len(groups) - 3)
            picks += [(*some, *rest) for some in product(*sizes)]
        for pick in dict.fromkeys(picks[: 2 * _MOST_VIEWS]):
            chosen: list[Any] = []
            for index, group in zip(pick, groups, strict=True):
                if group:
                    chosen += self.sender.conjunction(group[index])
            inner = tuple(chosen)
            if any(isinstance(p, dict) and _splits(p) for p in inner):
                for more in self._choices(inner, levels - 1):
                    yield (*parts, *more)
            else:
                yield (*parts, *inner)

    def _groups(
        self, limits: ValueLimits, hints: list[dict[str, Any]], depth: int
    ) -> Iterator[Iterator[Any]]:
        """Values by where they come from, so that no kind leaves no room for others."""
        told = [*limits.parts, *hints]
        yield listed_values(limits, told)
        kinds = limits.types or ALL_TYPES
        for kind in _ORDER:
            if kind not in kinds or limits.are_few:
                continue
            if kind == "string":
                yield texts(told)
            elif kind in ("integer", "fraction"):
                yield numbers(told, kind, limits)
            elif kind == "array" and depth < _DEEPEST:
                yield self._arrays(limits, hints, depth)
            elif kind == "object" and depth < _DEEPEST:
                yield object_candidates(self, limits, hints, depth)
            else:
                yield iter(PLAIN.get(kind, [[] if kind == "array" else {}]))

    def is_probable(self, value: Any, limits: ValueLimits) -> bool:
        """Whether a value is one of what is said, as far as a glance shows."""
        kind = type_of(value)
        if kind not in limits.types:
            return False
        if limits.values is not None:
            return any(same(value, one) for one in limits.values[:MOST_LISTED])
        if kind in ("integer", "fraction"):
            return is_number_within(value, limits)
        if kind == "string":
            size = len(value)
            return limits.least("minLength") <= size <= limits.most(
                "maxLength"
            ) and all(matches(pattern, value) for pattern in limits.all("pattern"))
        if kind == "array":
            size = len(value)
            is_unique = True in limits.all("uniqueItems")
            return limits.least("minItems") <= size <= limits.most("maxItems") and (
                not is_unique or len(set(map(key_of, value))) == size
            )
        if kind == "object":
            size = len(value)
            return (
                limits.least("minProperties") <= size <= limits.most("maxProperties")
                and limits.required <= value.keys()
            )
        return True

    def _arrays(
        self, limits: ValueLimits, hints: list[dict[str, Any]], depth: int
    ) -> Iterator[list[Any]]:
        told = [*limits.parts, *hints]
        sent = [self.sender.positions(part) for part in limits.parts]
        taken = [self.receiver.positions(part) for part in hints]
        known = max((len(p.first) for p in (*sent, *taken)), default=0)

        def at(index: int) -> list[Any]:
            own = [p.first[index] if index < len(p.first) else p.rest for p in sent]
            other = [p.first[index] if index < len(p.first) else p.rest for p in taken]
            mine, theirs = self.merged(own), self.merged(other, any_of=True)
            return self.values(mine, theirs, depth + 1)

        places = [at(index) for index in range(min(known, 12))]
        rest = at(known)
        contained = [
            value
            for word in ("contains", "unevaluatedItems")
            for schemas in ([part[word] for part in told if word in part],)
            for schema in schemas
            for value in self.values(schema, True, depth + 1)[:12]
        ]
        least = int(limits.least("minItems"))
        sizes = {0, 1, 2, 3, known, known + 1, least}
        for word in ("minItems", "maxItems", "minContains", "maxContains"):
            for number in (part[word] for part in told if word in part):
                sizes |= {int(number) - 1, int(number), int(number) + 1}
        fill = [*rest, *(v for v in contained if v not in rest)] or [None]
        for size in sorted(size for size in sizes if 0 <= size <= _MOST_ITEMS):
            if not self.spend(1 + size // 8):
                return
            base = [place[0] if place else None for place in places][:size]
            yield base + [fill[0]] * (size - len(base))
            distinct = base + fill
            if len(distinct) < size:
                distinct += [*range(7, 7 + size)] + [f"t{i}" for i in range(size)]
            unique = list({repr(v): v for v in distinct}.values())
            yield unique[:size]
            kinds = [v for v in unique if type_of(v) == type_of(fill[0])]
            yield kinds[:size]
        start = [place[0] if place else None for place in places]
        for index, place in enumerate(places):
            for value in place:
                yield [*start[:index], value, *start[index + 1 :]][
                    : max(index + 1, least)
                ]
                yield [*start[:index], value, *start[index + 1 :]]
        for value in (*contained, *rest):
            yield [*start, value]
            if least > len(start) + 1:
                yield [*start, value, *rest[: least - len(start) - 1]]
            for size in sorted(sizes):
                if 1 < size < 12:
                    yield [value] * size
                    yield [*start, *([fill[0]] * (size - len(start) - 1)), value][:12]
        for one, other in combinations(fill[:8], 2):
            yield [one, other]
            yield [other, one]


def _in_turn(groups: list[list[Any]]) -> list[Any]:
    """The first of each group, then the second of each, and so on."""
    turns = zip_longest(*groups, fillvalue=ABSENT)
    return [value for turn in turns for value in turn if value is not ABSENT]


def _splits(part: Mapping[str, Any]) -> bool:
    return any(word in part for word in (*_CASES, "if"))

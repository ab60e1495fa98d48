"""What schemas say of a value: types, limits, values; and one form for those that say the same.

What refers to a definition has the form of the definition, alternatives have one order, and
what says nothing is left out. Of two sides that are read alike, schemas of equal forms accept
the same values; that forms differ says nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

from ..change import key_of
from .schema_side import Conjunction, SchemaSide

ALL_TYPES = frozenset(
    ("null", "boolean", "integer", "fraction", "string", "array", "object")
)
"""JSON Schema's types, numbers as whole ones and fractions, so that none holds another."""

EXACT = 2**53 - 1
"""The largest whole number that all programs read alike (RFC 8259, section 6).

Where a schema names no limit, nobody is taken to send larger ones: newer versions of the
libraries that make schemas write this limit down for each whole number.
"""

_NUMBERS = frozenset(("integer", "fraction"))
_TYPES = {name: frozenset((name,)) for name in ALL_TYPES} | {"number": _NUMBERS}
_FEW = 200


class Bound(NamedTuple):
    """A limit of numbers.

    Attributes:
        value: the limit; infinite for none.
        is_open: whether the limit itself is refused.
    """

    value: float
    is_open: bool = False


def type_of(value: Any) -> str:
    """The one of ALL_TYPES that a JSON value has."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def types_of(schema: Mapping[str, Any]) -> frozenset[str]:
    """The types that `type` allows; all without it."""
    named = schema.get("type")
    if named is None:
        return ALL_TYPES
    if isinstance(named, str):
        return _TYPES.get(named, frozenset())
    return frozenset().union(*(_TYPES.get(name, frozenset()) for name in named))


class ValueLimits:
    """What a conjunction says, as far as each of its schemas says it by itself."""

    def __init__(self, parts: Conjunction) -> None:
        self.is_false = any(part is False for part in parts)
        self.parts: list[Mapping[str, Any]] = [p for p in parts if p is not False]

    @cached_property
    def types(self) -> frozenset[str]:
        """The types that a value can have."""
        if self.is_false:
            return frozenset()
        types = ALL_TYPES
        for part in self.parts:
            if "type" in part:
                types &= types_of(part)
        listed = self._listed
        if listed is not None:
            types &= {type_of(value) for value in listed}
        if types & _NUMBERS and self._no_number:
            types -= _NUMBERS
        return types

    @cached_property
    def _listed(self) -> list[Any] | None:
        """The values that every `enum` and `const` has; None without any."""
        found: dict[Any, Any] | None = None
        for part in self.parts:
            if "const" not in part and "enum" not in part:
                continue
            for values in (
                [part["const"]] if "const" in part else None,
                part.get("enum"),
            ):
                if isinstance(values, list):
                    keyed = {key_of(value): value for value in values}
                    if found is None:
                        found = keyed
                    else:
                        found = {k: v for k, v in found.items() if k in keyed}
        return None if found is None else list(found.values())

    @cached_property
    def values(self) -> list[Any] | None:
        """All possible values, and perhaps some more; None when they are too many."""
        if self._listed is not None:
            return [value for value in self._listed if type_of(value) in self.types]
        if self.types <= {"null", "boolean"}:
            values: list[Any] = [None] if "null" in self.types else []
            return values + ([False, True] if "boolean" in self.types else [])
        return None

    @property
    def are_few(self) -> bool:
        """Whether all possible values are known, and not too many to be tried."""
        return self.values is not None and len(self.values) <= _FEW

    @property
    def is_impossible(self) -> bool:
        """Whether it is known that there is no such value."""
        if not self.types or self.values == []:
            return True
        kinds = self.types
        if kinds == {"string"}:
            return self.least("minLength") > self.most("maxLength")
        if kinds == {"array"}:
            return self.least("minItems") > self.most("maxItems")
        if kinds == {"object"}:
            return self.least("minProperties") > self.most("maxProperties")
        return False

    @property
    def _no_number(self) -> bool:
        low, high = self._low, self._high
        if low.value == high.value:
            return low.is_open or high.is_open
        return low.value > high.value

    @cached_property
    def _low(self) -> Bound:
        return max(self._bounds("minimum", "exclusiveMinimum", -math.inf))

    @cached_property
    def _high(self) -> Bound:
        found = self._bounds("maximum", "exclusiveMaximum", math.inf)
        return min(found, key=lambda bound: (bound.value, not bound.is_open))

    def _bounds(self, inclusive: str, exclusive: str, none: float) -> Iterator[Bound]:
        yield Bound(none)
        for part in self.parts:
            limit, other = part.get(inclusive), part.get(exclusive)
            if _is_number(limit):
                # In draft-04 the second keyword says whether the first itself is refused.
                yield Bound(limit, other is True)
            if _is_number(other):
                yield Bound(other, True)

    def limit(self, keyword: str, *, whole: bool) -> Bound:
        """The `minimum` or `maximum` of numbers, rounded where all of them are whole."""
        bound, step = (self._low, 1) if keyword == "minimum" else (self._high, -1)
        return _rounded(bound, step) if whole else bound

    @property
    def sent(self) -> tuple[Bound, Bound]:
        """The limits that whoever sends a number keeps to."""
        whole = self.is_whole
        low, high = (self.limit(end, whole=whole) for end in ("minimum", "maximum"))
        if whole and low.value == -math.inf:
            low = Bound(-EXACT)
        if whole and high.value == math.inf:
            high = Bound(EXACT)
        return low, high

    @property
    def is_whole(self) -> bool:
        """Whether no value is a fraction."""
        return "fraction" not in self.types or any(
            _is_number(divisor) and divisor == divisor // 1
            for divisor in self.all("multipleOf")
        )

    def least(self, keyword: str) -> float:
        """The highest of `minLength` and its like; 0 without one."""
        return max(filter(_is_number, self.all(keyword)), default=0)

    def most(self, keyword: str) -> float:
        """The lowest of `maxLength` and its like; infinite without one."""
        return min(filter(_is_number, self.all(keyword)), default=math.inf)

    def all(self, keyword: str) -> list[Any]:
        """What the schemas have under a keyword."""
        return [part[keyword] for part in self.parts if keyword in part]

    @cached_property
    def required(self) -> frozenset[str]:
        """The names that an object must have."""
        return frozenset(
            name
            for names in self.all("required")
            if isinstance(names, list)
            for name in names
        )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _rounded(bound: Bound, step: int) -> Bound:
    """The first whole number that keeps a limit; `step` leads away from the limit."""
    if abs(bound.value) == math.inf:
        return bound
    value = math.ceil(bound.value) if step > 0 else math.floor(bound.value)
    return Bound(value + step * (bound.is_open and value == bound.value))


_MOST = 1_500
_NAMED = ("properties", "patternProperties", "dependentSchemas", "dependencies")
_ONE = (
    "additionalProperties",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
)
_OTHERWISE = frozenset(
    (
        "items prefixItems additionalItems minimum maximum exclusiveMinimum"
        " exclusiveMaximum type enum const anyOf"
    ).split()
)
_MERGED = frozenset(
    (
        "type enum minimum maximum multipleOf minLength maxLength pattern minItems maxItems"
        " uniqueItems minProperties maxProperties required propertyNames not anyOf oneOf"
    ).split()
)
_ANYTHING, _NEVER = (
    hashlib.blake2b(text, digest_size=16).hexdigest() for text in (b"true", b"false")
)
_NOTHING: Mapping[str, Any] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0),
    **{word: {} for word in _NAMED},
    **dict.fromkeys(("additionalProperties", "propertyNames"), _ANYTHING),
    "required": [],
    "uniqueItems": False,
    "not": _NEVER,
    "items": [_ANYTHING],
}
"""What each keyword says where it asks for nothing."""


def normal_form(side: SchemaSide, schema: Any) -> Hashable:
    """The form of a schema as a key; one of its own where there is too much to look at."""
    forms = _Forms(side)
    try:
        form = forms.digest(schema)
    except RecursionError:
        return object()
    return object() if forms.is_cut else form


class _Forms:
    """The forms of the schemas of a side: those within others are digests."""

    def __init__(self, side: SchemaSide) -> None:
        self._side = side
        self._levels: dict[int, int] = {}
        self._known: dict[int, Any] = {}
        self._loops = 0
        self._left = _MOST

    @property
    def is_cut(self) -> bool:
        """Whether there was too much to look at."""
        return self._left <= 0

    def digest(self, schema: Any) -> str:
        """A text for a form."""
        return _digest(self._of(schema))

    def _of(self, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return schema
        if id(schema) in self._known:
            return self._known[id(schema)]
        level = self._levels.get(id(schema))
        if level is not None:
            # A loop leads back so many levels.
            self._loops += 1
            return {"$ref": len(self._levels) - level}
        self._left -= 1
        if self.is_cut:
            return True
        loops = self._loops
        self._levels[id(schema)] = len(self._levels)
        try:
            parts = [self._of_part(one) for one in self._side.conjunction(schema)]
        finally:
            del self._levels[id(schema)]
        form = _merged(parts)
        if loops == self._loops:
            self._known[id(schema)] = form
        return form

    def _of_part(self, part: Any) -> Any:
        limits = ValueLimits((part,))
        if limits.is_impossible:
            return False
        form: dict[str, Any] = {}
        for word, value in part.items():
            if word in _NAMED and isinstance(value, dict):
                form[word] = {
                    name: sorted(one) if isinstance(one, list) else self.digest(one)
                    for name, one in value.items()
                }
            elif word in _ONE:
                form[word] = self.digest(value)
            elif word == "oneOf":
                form[word] = sorted(map(self.digest, value))
            elif word == "required":
                form[word] = sorted(set(value))
            elif word.startswith("unevaluated"):
                form[word] = id(part)  # What stands beside it decides.
            elif word not in _OTHERWISE and self._side.says(word):
                form[word] = value
        if limits.values is not None and ("enum" in part or "const" in part):
            form["enum"] = sorted(map(_digest, limits.values))
        elif "type" in part:
            form["type"] = sorted(types_of(part))
        if isinstance(part.get("anyOf"), list):
            _add_choice(form, [self._of(branch) for branch in part["anyOf"]])
        first, rest = self._side.positions(part)
        form["items"] = [*map(self.digest, first), self.digest(rest)]
        whole = limits.is_whole
        for word, none in (("minimum", Bound(-EXACT)), ("maximum", Bound(EXACT))):
            bound = limits.limit(word, whole=whole)
            if abs(bound.value) != math.inf and not (whole and bound == none):
                form[word] = [bound.value, bound.is_open]
        if "then" not in form and "else" not in form:
            form.pop("if", None)
        left = {w: v for w, v in form.items() if w not in _NOTHING or v != _NOTHING[w]}
        return left or True


def _merged(parts: list[Any]) -> Any:
    """One form for all that is asked of a value."""
    parts = [part for part in parts if part is not True]
    if any(part is False for part in parts):
        return False
    merged = {word: value for part in parts for word, value in part.items()}
    if len(parts) < 2:
        return merged or True
    if _MERGED.issuperset(merged) and len(merged) == sum(map(len, parts)):
        return merged
    return {"allOf": sorted(map(_digest, parts))}


def _add_choice(form: dict[str, Any], branches: list[Any]) -> None:
    """Adds alternatives to a form: types and listed values as one list of them."""
    if any(branch is True for branch in branches):
        return
    for word in ("type", "enum"):
        alike = all(isinstance(one, dict) and one.keys() == {word} for one in branches)
        if branches and alike and word not in form:
            form[word] = sorted({value for one in branches for value in one[word]})
            return
    form["anyOf"] = sorted({_digest(branch) for branch in branches})


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

"""One form for schemas that say the same in different ways.

What refers to a definition has the form of the definition, alternatives have one order, and
what says nothing is left out. Of two sides that are read alike, schemas of equal forms accept
the same values; that forms differ says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import Any

from ..json_equality import key_of
from .schema_side import SchemaSide
from .value_limits import EXACT, Bound, ValueLimits, types_of

__all__ = ["normal_form"]

_MOST = 4_000
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
        " exclusiveMaximum type enum const"
    ).split()
)
_MERGED = frozenset(
    (
        "type enum minimum maximum multipleOf minLength maxLength pattern minItems maxItems"
        " uniqueItems minProperties maxProperties required propertyNames not anyOf oneOf"
    ).split()
)
_NOTHING: Mapping[str, Any] = {
    **dict.fromkeys(("minLength", "minItems", "minProperties"), 0),
    **{word: {} for word in _NAMED},
    **dict.fromkeys(("additionalProperties", "propertyNames"), True),
    "required": [],
    "uniqueItems": False,
    "not": False,
    "items": [[], True],
}
"""What each keyword says where it asks for nothing."""


def normal_form(side: SchemaSide, schema: Any) -> Hashable:
    """The form of a schema as a key; one of its own where there is too much to look at."""
    forms = _Forms(side)
    try:
        form = forms.of(schema)
    except RecursionError:
        return object()
    return object() if forms.is_cut else key_of(form)


class _Forms:
    def __init__(self, side: SchemaSide) -> None:
        self._side = side
        self._levels: dict[int, int] = {}
        self._left = _MOST

    @property
    def is_cut(self) -> bool:
        """Whether there was too much to look at."""
        return self._left <= 0

    def of(self, schema: Any) -> Any:
        """The form of a schema."""
        if not isinstance(schema, dict):
            return schema
        level = self._levels.get(id(schema))
        if level is not None:
            # A loop leads back so many levels.
            return {"$ref": len(self._levels) - level}
        self._left -= 1
        if self.is_cut:
            return True
        self._levels[id(schema)] = len(self._levels)
        try:
            parts = [self._of_part(one) for one in self._side.conjunction(schema)]
        finally:
            del self._levels[id(schema)]
        parts = [part for part in parts if part is not True]
        if False in parts:
            return False
        merged = {word: value for part in parts for word, value in part.items()}
        if len(parts) < 2 or (
            _MERGED.issuperset(merged) and len(merged) == sum(map(len, parts))
        ):
            return merged or True
        return {"allOf": _sorted(parts)}

    def _of_part(self, part: Any) -> Any:
        limits = ValueLimits((part,))
        if limits.is_impossible:
            return False
        form: dict[str, Any] = {}
        for word, value in part.items():
            if word in _NAMED and isinstance(value, dict):
                form[word] = {
                    name: sorted(one) if isinstance(one, list) else self.of(one)
                    for name, one in value.items()
                }
            elif word in _ONE:
                form[word] = self.of(value)
            elif word in ("anyOf", "oneOf"):
                form[word] = _sorted(map(self.of, value))
            elif word == "required":
                form[word] = sorted(set(value))
            elif word.startswith("unevaluated"):
                form[word] = {"$ref": id(part)}  # What stands beside it decides.
            elif word not in _OTHERWISE and self._side.says(word):
                form[word] = value
        if limits.values is not None and ("enum" in part or "const" in part):
            form["enum"] = _sorted(limits.values)
        elif "type" in part:
            form["type"] = sorted(types_of(part))
        first, rest = self._side.positions(part)
        form["items"] = [list(map(self.of, first)), self.of(rest)]
        whole = limits.is_whole
        for word, bound, none in (
            ("minimum", limits.low(whole=whole), Bound(-EXACT)),
            ("maximum", limits.high(whole=whole), Bound(EXACT)),
        ):
            if abs(bound.value) != math.inf and not (whole and bound == none):
                form[word] = [bound.value, bound.is_open]
        return _without_nothing(form)


def _without_nothing(form: dict[str, Any]) -> Any:
    """A form without the keywords that ask for nothing."""
    branches = form.get("anyOf", [])
    for word in ("type", "enum"):
        alike = all(isinstance(one, dict) and one.keys() == {word} for one in branches)
        if branches and alike and word not in form:
            values = {key_of(value): value for one in branches for value in one[word]}
            form[word] = _sorted(values.values())
            form.pop("anyOf")
    if True in branches:
        form.pop("anyOf", None)
    if "if" in form and "then" not in form and "else" not in form:
        del form["if"]
    left = {
        word: value
        for word, value in form.items()
        if word not in _NOTHING or key_of(value) != key_of(_NOTHING[word])
    }
    return left or True


def _sorted(values: Any) -> list[Any]:
    return sorted(values, key=lambda value: repr(_ordered(value)))


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((word, repr(_ordered(inner))) for word, inner in value.items())
    return list(map(_ordered, value)) if isinstance(value, list) else value

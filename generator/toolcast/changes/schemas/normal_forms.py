"""One form for schemas that say the same in different ways.

What refers to a definition has the form of the definition, alternatives have one order, and
what says nothing is left out. Of two sides that are read alike, schemas of equal forms accept
the same values; that forms differ says nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Mapping
from typing import Any

from .schema_side import SchemaSide
from .value_limits import EXACT, Bound, ValueLimits, types_of

__all__ = ["normal_form"]

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
        for word, bound, none in (
            ("minimum", limits.low(whole=whole), Bound(-EXACT)),
            ("maximum", limits.high(whole=whole), Bound(EXACT)),
        ):
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

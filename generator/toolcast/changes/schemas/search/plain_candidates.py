"""Plain values at the limits of schemas: texts, numbers, and what is listed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any

from toolcast_runtime.validation.formats import ASSERTED

from ..value_limits import EXACT, ValueLimits, type_of
from .pattern_texts import texts_of

__all__ = [
    "MOST_LISTED",
    "PLAIN",
    "is_number_within",
    "listed_values",
    "numbers",
    "texts",
]

MOST_LISTED = 200
"""Of the values that a schema lists so many are tried."""

_LONGEST_TEXT = 3_000
PLAIN: dict[str, list[Any]] = {
    "string": ["a", "", "b", "ab", "A 1", "0"],
    "integer": [1, 0, 2, 3, -1, 10, 100],
    "fraction": [0.5, 1.5, -0.5],
    "boolean": [True, False],
    "null": [None],
}
"""Values of each type, where nothing else is said."""

_LARGE = 1e15
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def listed_values(
    limits: ValueLimits, told: Iterable[Mapping[str, Any]]
) -> Iterator[Any]:
    """The values that schemas name."""
    if limits.values is not None:
        yield from limits.values[:MOST_LISTED]
    for part in told:
        if "default" in part:
            yield part["default"]
        if isinstance(part.get("examples"), list):
            yield from part["examples"][:5]
        if "const" in part:
            yield part["const"]
        if isinstance(part.get("enum"), list):
            yield from part["enum"][:MOST_LISTED]


def is_number_within(value: Any, limits: ValueLimits) -> bool:
    """Whether a number keeps the limits."""
    low, high = limits.low(whole=False), limits.high(whole=False)
    if value < low.value or (low.is_open and value == low.value):
        return False
    if value > high.value or (high.is_open and value == high.value):
        return False
    return all(
        isinstance(value, float) or isinstance(m, float) or value % m == 0
        for m in limits.all("multipleOf")
    )


def texts(told: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Texts at the limits, and such as match or nearly match the patterns."""
    sizes: set[int] = set()
    patterns: dict[str, None] = {}
    for part in told:
        for word in ("minLength", "maxLength"):
            if word in part:
                sizes |= {int(part[word]) - 1, int(part[word]), int(part[word]) + 1}
        if part.get("format") in ASSERTED:
            yield ASSERTED[part["format"]].example
        if isinstance(part.get("pattern"), str):
            patterns[part["pattern"]] = None
    made = [text for pattern in patterns for text in texts_of(pattern)]
    yield from PLAIN["string"][:1]
    yield from made
    for size in sorted(size for size in sizes if 0 <= size <= _LONGEST_TEXT):
        yield "a" * size
        for text in made[:6]:
            if 0 < len(text) < size:
                yield text + text[-1] * (size - len(text))
                yield text[0] * (size - len(text)) + text
    yield from PLAIN["string"]
    for text in made[:6]:
        yield f"{text} "
        yield text.upper()


def numbers(
    told: Iterable[Mapping[str, Any]], kind: str, limits: ValueLimits
) -> Iterator[Any]:
    """Whole numbers or fractions at the limits and beside them."""
    is_low_free = limits.low(whole=False).value == -math.inf
    is_high_free = limits.high(whole=False).value == math.inf
    most = math.inf if limits.is_whole else EXACT + 2
    bounds: dict[Any, None] = {}
    divisors: dict[Any, None] = {}
    for part in told:
        for word in _BOUNDS:
            number = part.get(word)
            if isinstance(number, (int, float)) and not isinstance(number, bool):
                bounds[number] = None
        if isinstance(part.get("multipleOf"), (int, float)):
            divisors[part["multipleOf"]] = None
    near: list[Any] = []
    plain = [bound for bound in bounds if abs(bound) < _LARGE]
    near += [
        n
        for bound in bounds
        if bound not in plain
        for n in (bound, bound + 1, bound - 1)
    ]
    for bound in plain:
        near += [bound, bound + 1, bound - 1]
        whole = int(bound // 1)
        near += [whole, whole + 1]
        for divisor in divisors:
            times = bound // divisor
            if abs(times) < _LARGE:
                near += [divisor * (int(times) + i) for i in (-1, 0, 1, 2)]
        if kind == "fraction":
            near += [bound + 0.5, bound - 0.5, bound + 0.001, bound - 0.001]
    for one, other in pairwise(sorted(plain)):
        middle = (one + other) / 2
        near += [middle, int(middle // 1)]
    near += [divisor * i for divisor in divisors for i in (1, 2, 3, 5, 7, -1)]
    near += [divisor + 1 for divisor in divisors]
    for one, other in combinations(list(divisors)[:4], 2):
        near.append(one * other)
    for value in (*PLAIN[kind], *near):
        is_free = is_low_free if value < 0 else is_high_free
        is_sent = not (is_free and EXACT < abs(value) <= most)
        if is_sent and type_of(value) == kind:
            yield int(value) if kind == "integer" else value

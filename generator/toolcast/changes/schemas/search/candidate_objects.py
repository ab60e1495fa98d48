"""Objects that tell two schemas apart, each different from a plain one in one thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Protocol

from ..schema_side import SchemaSide, schemas_under
from ..value_limits import ValueLimits
from .pattern_texts import texts_of

__all__ = ["object_candidates"]

_MOST_NAMES = 300
_MOST_PAIRED = 7
_MOST_FILLED = 60
_TYING = frozenset(
    (
        "if anyOf oneOf not dependentRequired dependentSchemas dependencies minProperties"
        " maxProperties unevaluatedProperties propertyNames"
    ).split()
)
_NEW_NAMES = ("other", "x", "Aa 1-")


class Maker(Protocol):
    """Makes the values of properties, as `Candidates`."""

    sender: SchemaSide
    receiver: SchemaSide

    def spend(self, steps: int) -> bool:
        """Whether there is time for some more."""

    def merged(self, schemas: Sequence[Any], *, any_of: bool = False) -> Any:
        """One schema for several of one value."""

    def values(self, sent: Any, taken: Any, depth: int = 0) -> list[Any]:
        """Values to try at one place."""

    def are_same(self, sent: Any, taken: Any) -> bool:
        """Whether both sides say the same of a place."""


def object_candidates(
    maker: Maker,
    limits: ValueLimits,
    hints: list[dict[str, Any]],
    depth: int,
) -> Iterator[dict[str, Any]]:
    """The smallest object, the largest, and each with one value or name changed."""
    sent = limits.parts
    names = _names(maker.sender.everything(*sent), hints, limits)
    known = names[:_MOST_NAMES]
    values: dict[str, list[Any]] = {}
    told = [*sent, *hints]
    is_tied = any(not _TYING.isdisjoint(part) for part in told)
    dull: set[str] = set()
    declared = {name for part in sent for name in part.get("properties", {})}
    patterns = sum(len(part.get("patternProperties", ())) for part in told)
    load = len(told) // 16 + patterns // 4
    for number, name in enumerate(known):
        if not maker.spend(load):
            known = known[:number]
            break
        own = [schema for part in sent for schema in schemas_under(part, name)]
        if not own:
            word = "unevaluatedProperties"
            own = [part[word] for part in sent if word in part]
        other = [schema for part in hints for schema in schemas_under(part, name)]
        mine, theirs = maker.merged(own), maker.merged(other, any_of=True)
        if not is_tied and own and maker.are_same(mine, theirs):
            dull.add(name)
            if name in declared and name not in limits.required:
                continue  # What both say the same of shows nothing.
        values[name] = maker.values(mine, theirs, depth + 1) or ["a"]
    known = [name for name in known if name in values]
    needed = [name for name in known if name in limits.required]
    for name in sorted(limits.required):
        if name not in values:
            values[name] = ["a"]
            needed.append(name)
    least = {name: values[name][0] for name in needed}
    for short in range(int(limits.least("minProperties")) - len(least)):
        if short >= _MOST_FILLED:
            break
        name = next((one for one in known if one not in least), f"x{short}")
        least[name] = values.get(name, ["a"])[0]
    yield least
    if len(least) > len(needed):
        # Which names make up the least number is not said.
        required = {name: values[name][0] for name in needed}
        for name in known[:_MOST_PAIRED]:
            yield {**required, name: values[name][0]}
    full = {**least, **{n: values[n][0] for n in known if n in declared}}
    yield full
    bases = [least] if full == least else [least, full]
    # What both say the same of shows nothing by its value.
    tried = {name: values[name][: 1 if name in dull else None] for name in known}
    for rank in range(max(map(len, tried.values()), default=0)):
        for name in known:
            for value in tried[name][rank : rank + 1]:
                for base in bases:
                    if not maker.spend(1):
                        return
                    yield {**base, name: value}
    for base in bases:
        for name in base:
            if name not in limits.required:
                yield {one: base[one] for one in base if one != name}
    if is_tied:
        yield from _paired(maker, known, values, least)
    yield from _counted(told, known, values, least)


def _paired(
    maker: Maker,
    known: list[str],
    values: Mapping[str, list[Any]],
    least: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Two names at a time, as conditions and dependencies tie them."""
    free = known[:_MOST_PAIRED]
    for one, other in combinations(free, 2):
        yield {**least, one: values[one][0], other: values[other][0]}
    for one, other in combinations(free, 2):
        for first in values[one][:6]:
            for second in values[other][:6]:
                if not maker.spend(1):
                    return
                yield {**least, one: first, other: second}
    for some in combinations(free, 3):
        yield {**least, **{name: values[name][0] for name in some}}


def _counted(
    told: list[Mapping[str, Any]],
    known: list[str],
    values: Mapping[str, list[Any]],
    least: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    """Objects with about as many names as limits say."""
    sizes: set[int] = set()
    for word in ("minProperties", "maxProperties"):
        for number in (part[word] for part in told if word in part):
            sizes |= {int(number) - 1, int(number), int(number) + 1}
    others = [name for name in known if name not in least]
    for size in sorted(sizes):
        if len(least) <= size <= _MOST_FILLED:
            chosen = others[: size - len(least)]
            made = {**least, **{name: values[name][0] for name in chosen}}
            for index in range(size - len(made)):
                made[f"x{index}"] = "a"
            yield made


def _names(
    sent: list[dict[str, Any]], hints: list[dict[str, Any]], limits: ValueLimits
) -> list[str]:
    """Names to try: the sender's first, then the receiver's, then new ones."""
    found: dict[str, None] = dict.fromkeys(sorted(limits.required))
    for part in (*sent, *hints):
        found.update(dict.fromkeys(part.get("properties", {})))
    for part in (*sent, *hints):
        found.update(dict.fromkeys(part.get("required", ())))
        for word in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, asked in part.get(word, {}).items():
                found[name] = None
                if isinstance(asked, list):
                    found.update(dict.fromkeys(asked))
        for pattern in part.get("patternProperties", {}):
            found.update(dict.fromkeys(t for t in texts_of(pattern)[:3]))
        found.update(dict.fromkeys(_of_names(part.get("propertyNames"))))
    found.update(dict.fromkeys(_NEW_NAMES))
    return list(found)


def _of_names(schema: Any) -> list[str]:
    if not isinstance(schema, dict):
        return []
    found = [*schema.get("enum", ()), schema.get("const")]
    if isinstance(schema.get("pattern"), str):
        found += texts_of(schema["pattern"])
    for word in ("minLength", "maxLength"):
        if isinstance(schema.get(word), int):
            found += ["n" * size for size in range(schema[word] - 1, schema[word] + 2)]
    return [name for name in found if isinstance(name, str) and len(name) < 300][:20]

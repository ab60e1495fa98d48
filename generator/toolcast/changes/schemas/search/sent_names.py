"""Whether a value has only names that its sender's schema speaks of."""

from __future__ import annotations

from typing import Any

from ..schema_side import SchemaSide, schemas_under

__all__ = ["has_only_declared_names"]

_OPENING = ("additionalProperties", "unevaluatedProperties")


def has_only_declared_names(side: SchemaSide, value: Any) -> bool:
    """Whether whoever sends a value was told of each name in it.

    An object whose schema lists properties and is silent about other names has these alone:
    nobody was told to send another, though nothing refuses it. Where a schema says
    `additionalProperties`, or lists no properties, names are free.
    """
    return _has_only(side, [side.root], value)


def _has_only(side: SchemaSide, schemas: list[Any], value: Any) -> bool:
    told = side.everything(*schemas)
    if isinstance(value, list):
        return all(
            _has_only(side, _items(side, told, index), item)
            for index, item in enumerate(value)
            if isinstance(item, (list, dict))
        )
    if not isinstance(value, dict):
        return True
    is_silent = any(part.get("properties") for part in told) and not any(
        part.get(word, False) is not False for part in told for word in _OPENING
    )
    for name, inner in value.items():
        under = [s for p in told for s in schemas_under(p, name, others=False)]
        if not under and is_silent:
            return False
        if isinstance(inner, (list, dict)):
            if not under:
                under = [p["additionalProperties"] for p in told if _OPENING[0] in p]
            if not _has_only(side, under, inner):
                return False
    return True


def _items(side: SchemaSide, told: list[dict[str, Any]], index: int) -> list[Any]:
    found: list[Any] = []
    for part in told:
        first, rest = side.positions(part)
        found.append(first[index] if index < len(first) else rest)
        found += [part[word] for word in ("contains",) if word in part]
    return found

"""Makes a value small that shows something, so that a person sees what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["smaller"]

_MOST_TRIED = 120


def smaller(value: Any, still_shows: Callable[[Any], bool]) -> Any:
    """The value without what can be left out of it."""
    tried = 0
    is_new = True
    while is_new and tried < _MOST_TRIED:
        is_new = False
        for one in _without_one(value):
            tried += 1
            if tried > _MOST_TRIED:
                break
            if still_shows(one):
                value, is_new = one, True
                break
    return value


def _without_one(value: Any) -> Iterator[Any]:
    """The value without one member or item, at any depth."""
    if isinstance(value, dict):
        for name in reversed(value):
            yield {one: value[one] for one in value if one != name}
        for name, inner in value.items():
            for less in _without_one(inner):
                yield {**value, name: less}
    elif isinstance(value, list):
        if len(value) > 8:
            yield value[: len(value) // 2]
        for index in range(len(value) - 1, max(-1, len(value) - 9), -1):
            yield value[:index] + value[index + 1 :]
        for index, inner in enumerate(value[:8]):
            for less in _without_one(inner):
                yield [*value[:index], less, *value[index + 1 :]]

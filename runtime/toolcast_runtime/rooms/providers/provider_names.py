"""Names in a grammar that is narrower than the spec's: stable, reversible, never twice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

_MOST = 64
_DIGITS = 6


def provider_names(
    names: Iterable[str],
    grammar: re.Pattern[str] | None,
    taken: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """The provider's name of each.

    A name that the grammar takes stays. Of others, what it does not take becomes `_`, one with a
    wrong first character gets a `_` before it, and a long one is cut and ends with digits of its
    hash. What others are there changes a name only where two would become one: then the one that
    is not taken as it is ends with digits of its hash.

    Args:
        names: of tools, or of the properties of one object.
        grammar: matched against a whole name; it takes letters, digits and `_`, and 64
            characters. None takes any name.
        taken: names of the provider's own; one of these ends with digits of its hash, too.
    """
    if grammar is None:
        return {name: name for name in names}
    found = {name: _mapped(name, grammar) for name in names}
    twice = _twice(found)
    return {
        name: (
            _ended(new, name) if new in taken or (new != name and new in twice) else new
        )
        for name, new in found.items()
    }


def collisions(
    names: Iterable[str], grammar: re.Pattern[str] | None
) -> list[list[str]]:
    """The groups of names that would become one in a grammar."""
    if grammar is None:
        return []
    found = {name: _mapped(name, grammar) for name in names}
    return [[n for n, new in found.items() if new == one] for one in _twice(found)]


def _twice(found: dict[str, str]) -> list[str]:
    seen: dict[str, int] = {}
    for new in found.values():
        seen[new] = seen.get(new, 0) + 1
    return [new for new, times in seen.items() if times > 1]


def _mapped(name: str, grammar: re.Pattern[str]) -> str:
    if grammar.fullmatch(name):
        return name
    plain = "".join(one if grammar.fullmatch(f"a{one}") else "_" for one in name)
    if not plain or not grammar.fullmatch(plain[0]):
        plain = f"_{plain}"
    return plain if len(plain) <= _MOST else _ended(plain, name)


def _ended(new: str, name: str) -> str:
    digits = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{new[: _MOST - _DIGITS - 1]}_{digits}"

"""Names in a grammar that is narrower than the spec's: stable, reversible, never twice.

Of tools, and of properties wherever a schema names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ..core.validation.references import as_mapping, walk_objects

_MAX_NAME_CHARACTERS = 64
"""Length of a tool name."""
_DIGITS = 6
_NEEDED_BY = ("dependentRequired", "dependentSchemas", "dependencies")


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


def new_names(root: Any, grammar: re.Pattern[str] | None) -> dict[str, str]:
    """The provider's names of the properties that a schema declares, where they differ.

    One property has one name wherever it stands: parts of a schema that are for the same value
    name it apart from each other.

    Args:
        root: the whole schema.
        grammar: that of the names; None takes any.
    """
    if grammar is None:
        return {}
    declared = dict[str, None]()
    named = set[str]()
    for part in walk_objects(root):
        declared.update(dict.fromkeys(as_mapping(part.get("properties"))))
        named.update(named_properties(part))
        for value in walk_objects([part.get("enum"), part.get("const")]):
            named.update(value)
    names = provider_names([*declared, *named], grammar)
    return {name: names[name] for name in declared if names[name] != name}


def named_properties(schema: Mapping[str, Any]) -> Iterator[str]:
    """The properties that the keywords of one schema name."""
    yield from as_mapping(schema.get("properties"))
    yield from _names(schema.get("required"))
    for keyword in _NEEDED_BY:
        for name, needed in as_mapping(schema.get(keyword)).items():
            yield name
            yield from _names(needed)


def renamed(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A schema that names properties otherwise, wherever one of its own keywords does."""
    out = dict(schema)
    for keyword in ("properties", *_NEEDED_BY):
        if isinstance(out.get(keyword), Mapping):
            out[keyword] = {
                names.get(name, name): _renamed_list(held, names)
                for name, held in out[keyword].items()
            }
    if "required" in out:
        out["required"] = _renamed_list(out["required"], names)
    for keyword in ("enum", "const", "default", "examples"):
        if keyword in out:
            out[keyword] = renamed_keys(out[keyword], names)
    return out


def renamed_everywhere(schema: Any, names: Mapping[str, str]) -> Any:
    """A schema that names properties otherwise, in all that it holds, too; for people."""
    if isinstance(schema, Mapping):
        held = {key: renamed_everywhere(one, names) for key, one in schema.items()}
        return renamed(held, names)
    if isinstance(schema, (list, tuple)):
        return [renamed_everywhere(one, names) for one in schema]
    return schema


def renamed_keys(value: Any, names: Mapping[str, str]) -> Any:
    """A JSON value, the keys of its objects by other names."""
    if isinstance(value, Mapping):
        return {names.get(k, k): renamed_keys(v, names) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [renamed_keys(one, names) for one in value]
    return value


def _renamed_list(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, (list, tuple)):
        return [names.get(one, one) if isinstance(one, str) else one for one in held]
    return held


def _names(needed: Any) -> list[str]:
    is_list = isinstance(needed, (list, tuple))
    return [one for one in needed if isinstance(one, str)] if is_list else []


def _twice(found: dict[str, str]) -> list[str]:
    return [new for new, times in Counter(found.values()).items() if times > 1]


def _mapped(name: str, grammar: re.Pattern[str]) -> str:
    if grammar.fullmatch(name):
        return name
    plain = "".join(one if grammar.fullmatch(f"a{one}") else "_" for one in name)
    if not plain or not grammar.fullmatch(plain[0]):
        plain = f"_{plain}"
    return plain if len(plain) <= _MAX_NAME_CHARACTERS else _ended(plain, name)


def _ended(new: str, name: str) -> str:
    digits = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{new[: _MAX_NAME_CHARACTERS - _DIGITS - 1]}_{digits}"

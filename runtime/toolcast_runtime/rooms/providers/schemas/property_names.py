"""The names of properties in a provider's grammar: one for each in a whole schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..provider_names import provider_names

_NEEDED_BY = ("dependentRequired", "dependentSchemas", "dependencies")


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
    named = dict[str, None]()
    waiting = [root]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
            if isinstance(part.get("properties"), Mapping):
                declared.update(dict.fromkeys(part["properties"]))
            named.update(dict.fromkeys(named_properties(part)))
            named.update(dict.fromkeys(_keys([part.get("enum"), part.get("const")])))
    names = provider_names([*declared, *named], grammar)
    return {name: names[name] for name in declared if names[name] != name}


def named_properties(schema: Mapping[str, Any]) -> Iterator[str]:
    """The properties that the keywords of one schema name."""
    if isinstance(schema.get("properties"), Mapping):
        yield from schema["properties"]
    yield from _names(schema.get("required"))
    for keyword in _NEEDED_BY:
        if isinstance(schema.get(keyword), Mapping):
            for name, needed in schema[keyword].items():
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


def _keys(values: list[Any]) -> Iterator[str]:
    """The keys of all objects within some values."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            yield from value
            waiting.extend(value.values())
        elif isinstance(value, (list, tuple)):
            waiting.extend(value)


def _renamed_list(held: Any, names: Mapping[str, str]) -> Any:
    if isinstance(held, (list, tuple)):
        return [names.get(one, one) if isinstance(one, str) else one for one in held]
    return held


def _names(needed: Any) -> list[str]:
    is_list = isinstance(needed, (list, tuple))
    return [one for one in needed if isinstance(one, str)] if is_list else []

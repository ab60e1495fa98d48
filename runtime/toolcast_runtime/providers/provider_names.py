"""Mapping of tool and property names to names that a provider accepts.

Provider names are stable between runs, unique, and can be mapped back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from ..core.validation.references import as_mapping, walk_objects

_MAX_NAME_CHARACTERS = 64
"""Maximum length of a name that had to be changed."""
_HASH_DIGITS = 6
_DEPENDENCY_KEYWORDS = ("dependentRequired", "dependentSchemas", "dependencies")


def provider_names(
    names: Iterable[str],
    grammar: re.Pattern[str] | None,
    reserved_names: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Return the provider name of each name.

    Valid names are unchanged. In others, each invalid character becomes `_`, a name with an
    invalid first character is prefixed with `_`, and a name that is too long is cut and ends
    with digits of its hash. If two names would be mapped to the same name, each changed name
    ends with digits of its hash. Apart from such duplicates a name does not depend on others.

    Args:
        names: the names of tools, or of the properties of a schema.
        grammar: the pattern of a whole valid name; it must accept names of up to 64 letters,
            digits and `_`. None accepts any name.
        reserved_names: names of the provider's own tools; a name mapped to one of these names
            gets digits of its hash, too.
    """
    if grammar is None:
        return {name: name for name in names}
    mapped = {name: _map_name(name, grammar) for name in names}
    duplicates = _find_duplicates(mapped)
    for name, new in mapped.items():
        is_changed_duplicate = new != name and new in duplicates
        if new in reserved_names or is_changed_duplicate:
            mapped[name] = _append_hash(new, name)
    return mapped


def collisions(
    names: Iterable[str], grammar: re.Pattern[str] | None
) -> list[list[str]]:
    """Return the groups of names that would be mapped to the same provider name."""
    if grammar is None:
        return []
    mapped = {name: _map_name(name, grammar) for name in names}
    return [
        [name for name, new in mapped.items() if new == duplicate]
        for duplicate in _find_duplicates(mapped)
    ]


def new_names(root: Any, grammar: re.Pattern[str] | None) -> dict[str, str]:
    """Return the provider names of a schema's properties whose own name is invalid.

    A property name is mapped to the same name everywhere in the schema, because several
    subschemas may apply to the same object and each may contain the name.

    Args:
        root: the whole schema.
        grammar: the pattern of valid property names; None accepts any name.
    """
    if grammar is None:
        return {}
    declared = dict[str, None]()
    mentioned = set[str]()
    for part in walk_objects(root):
        declared.update(dict.fromkeys(as_mapping(part.get("properties"))))
        mentioned.update(named_properties(part))
        for value in walk_objects([part.get("enum"), part.get("const")]):
            mentioned.update(value)
    names = provider_names([*declared, *mentioned], grammar)
    return {name: names[name] for name in declared if names[name] != name}


def named_properties(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the property names that a schema declares, requires or names in dependencies.

    Subschemas are not searched. A name may be yielded several times.
    """
    yield from as_mapping(schema.get("properties"))
    yield from _list_strings(schema.get("required"))
    for keyword in _DEPENDENCY_KEYWORDS:
        for name, dependency in as_mapping(schema.get(keyword)).items():
            yield name
            yield from _list_strings(dependency)


def rename_properties(
    schema: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return a schema with renamed properties; its subschemas are unchanged.

    Renames in `properties`, `required`, dependencies, and keys in `enum`, `const`, `default`
    and `examples`.
    """
    out = dict(schema)
    for keyword in ("properties", *_DEPENDENCY_KEYWORDS):
        if isinstance(out.get(keyword), Mapping):
            out[keyword] = {
                names.get(name, name): _rename_in_list(value, names)
                for name, value in out[keyword].items()
            }
    if "required" in out:
        out["required"] = _rename_in_list(out["required"], names)
    for keyword in ("enum", "const", "default", "examples"):
        if keyword in out:
            out[keyword] = renamed_keys(out[keyword], names)
    return out


def renamed_everywhere(schema: Any, names: Mapping[str, str]) -> Any:
    """Return a JSON value with properties renamed in every object, as if each were a schema.

    Only for text in descriptions: a property whose name is a keyword, such as `required`, is
    treated as the keyword.
    """
    if isinstance(schema, Mapping):
        subschemas = {
            key: renamed_everywhere(value, names) for key, value in schema.items()
        }
        return rename_properties(subschemas, names)
    if isinstance(schema, (list, tuple)):
        return [renamed_everywhere(item, names) for item in schema]
    return schema


def renamed_keys(value: Any, names: Mapping[str, str]) -> Any:
    """Return a JSON value with the keys of all its objects renamed."""
    if isinstance(value, Mapping):
        return {names.get(k, k): renamed_keys(v, names) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [renamed_keys(item, names) for item in value]
    return value


def _rename_in_list(value: Any, names: Mapping[str, str]) -> Any:
    """Return a list with its strings renamed; other values are returned unchanged."""
    if not isinstance(value, (list, tuple)):
        return value
    return [names.get(item, item) if isinstance(item, str) else item for item in value]


def _list_strings(value: Any) -> list[str]:
    if not isinstance(value, (list, tuple)):
        return []
    return [item for item in value if isinstance(item, str)]


def _find_duplicates(mapped: dict[str, str]) -> list[str]:
    return [new for new, count in Counter(mapped.values()).items() if count > 1]


def _map_name(name: str, grammar: re.Pattern[str]) -> str:
    if grammar.fullmatch(name):
        return name
    new = ""
    for character in name:
        # Test each character after a valid letter, because some patterns are stricter for the
        # first character of a name.
        new += character if grammar.fullmatch(f"a{character}") else "_"
    if not new or not grammar.fullmatch(new[0]):
        new = f"_{new}"
    return new if len(new) <= _MAX_NAME_CHARACTERS else _append_hash(new, name)


def _append_hash(new: str, name: str) -> str:
    # A property name may contain a lone surrogate, which plain UTF-8 cannot encode.
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    stem = new[: _MAX_NAME_CHARACTERS - _HASH_DIGITS - 1]
    return f"{stem}_{digest[:_HASH_DIGITS]}"

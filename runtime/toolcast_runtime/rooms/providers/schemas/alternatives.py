"""Alternatives: which exclude each other, and one object in place of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from .json_types import types_of


def exclude_each_other(members: Sequence[Any]) -> bool:
    """Whether no value can be of two alternatives, so that `anyOf` says what `oneOf` says."""
    return all(_are_disjoint(*pair) for pair in combinations(members, 2))


def one_object(
    base: Mapping[str, Any], members: Sequence[Mapping[str, Any]]
) -> dict[str, Any] | None:
    """An object that takes whatever one of the alternatives takes, and more.

    Args:
        base: what holds for all of them.
        members: the alternatives.

    Returns:
        None when one of them is no object.
    """
    if any((types_of(one) or ["object"]) != ["object"] for one in members):
        return None
    if not all(isinstance(one.get("properties", {}), Mapping) for one in members):
        return None
    ways: dict[str, list[Any]] = {}
    for member in members:
        for name, schema in member.get("properties", {}).items():
            known = ways.setdefault(name, [])
            if schema not in known:
                known.append(schema)
    own = dict(base.get("properties", {}))
    if base.get("additionalProperties") is False:  # It refuses what they add.
        ways = {name: known for name, known in ways.items() if name in own}
    properties = {name: own.get(name, _any_of(known)) for name, known in ways.items()}
    required = [set(one.get("required", ())) for one in members]
    common = set.intersection(*required) if required else set()
    needed = dict.fromkeys(base.get("required", ()))
    first = members[0].get("required", ()) if members else ()
    needed.update(dict.fromkeys(name for name in first if name in common))
    whole = {**base, "type": "object", "properties": {**own, **properties}}
    if needed:
        whole["required"] = list(needed)
    if members and all(one.get("additionalProperties") is False for one in members):
        whole["additionalProperties"] = False
    return whole


def _any_of(schemas: list[Any]) -> Any:
    if len(schemas) == 1:
        return schemas[0]
    values = [_values(schema) for schema in schemas]
    if all(values):
        of_each: list[Any] = []
        for known in values:
            of_each += [one for one in known or () if one not in of_each]
        types = {t for schema in schemas for t in types_of(schema) or ()}
        one_type = {"type": types.pop()} if len(types) == 1 else {}
        words = {k: v for k, v in schemas[0].items() if k == "description"}
        return {**one_type, **words, "enum": of_each}
    return {"anyOf": schemas}


def _values(schema: Any) -> list[Any] | None:
    """All values of a schema that lists them."""
    if isinstance(schema, Mapping):
        if "const" in schema:
            return [schema["const"]]
        if isinstance(schema.get("enum"), (list, tuple)):
            return list(schema["enum"])
    return None


def _are_disjoint(first: Any, second: Any) -> bool:
    if first is False or second is False:
        return True
    if not isinstance(first, Mapping) or not isinstance(second, Mapping):
        return False
    mine, its = _values(first), _values(second)
    if mine is not None and its is not None:
        return not any(one in its for one in mine)
    types = types_of(first), types_of(second)
    if types[0] is not None and types[1] is not None:
        if not _wide(types[0]) & _wide(types[1]):
            return True
        if types[0] != ["object"] or types[1] != ["object"]:
            return False
        needed = set(first.get("required", ())) & set(second.get("required", ()))
        mine, its = first.get("properties", {}), second.get("properties", {})
        return any(
            _are_disjoint(mine[name], its[name])
            for name in needed
            if name in mine and name in its
        )
    return False


def _wide(types: Sequence[str]) -> set[str]:
    return {"number" if one == "integer" else one for one in types}

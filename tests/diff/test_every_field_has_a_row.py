"""Every field of the spec language is in one family of changes, and every kind has its case."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.diff.single_changes import single_changes
from tests.test_structure import none
from toolcast.changes.table import families, rules
from toolcast.extensions import fields_of
from toolcast.language.spec_language import schema

EXTENSIONS = ("letta",)
SIDES = ("tool", "toolset", "mcp_resource", "mcp_prompt", "workspace")
# Below them every keyword is a field: they have a family and a table of their own.
SCHEMAS = {"parameters", "returns"}
# A tool of another name is another file here.
NO_CASE: Mapping[str, set[str]] = {
    "tool": {"name", *SCHEMAS},
    "toolset": set(),
    "mcp_resource": {"name"},
    "mcp_prompt": {"name"},
    "workspace": set(),
}


def fields_in(schema: Any, path: str = "") -> Iterator[str]:
    """The fields of a schema that a spec can change, those inside of others by their way.

    A mapping or list of objects is a field itself, by its entries that come and go, and so
    is what may also be plain text.
    """
    if not isinstance(schema, dict) or "const" in schema:
        return
    inner = [
        f
        for key, value in schema.get("properties", {}).items()
        for f in fields_in(value, _below(path, key))
    ]
    for keyword in ("additionalProperties", "items"):
        entry = schema.get(keyword)
        if isinstance(entry, dict) and entry.get("properties"):
            inner += [path, *fields_in(entry, _below(path, "*"))]
    types = schema.get("type")
    if inner and path and "string" in (types if isinstance(types, list) else [types]):
        inner.append(path)
    if isinstance(schema.get("additionalProperties"), dict) and path not in inner:
        inner.append(path)
    yield from inner or [path]


def language(side: str) -> set[str]:
    """The fields of one kind of file, with the extension's."""
    own = dict(schema(side))
    added = fields_of(EXTENSIONS)
    if side == "tool":
        own["properties"] = {**own["properties"], **added.tool}
    if side == "toolset":
        own["properties"] = {**own["properties"], **added.toolset}
    return set(fields_in(own)) - {""}


def covered(side: str) -> Counter[str]:
    return Counter(
        field for family in families(EXTENSIONS) for field in family.fields(side)
    )


@pytest.mark.parametrize("side", SIDES)
def test_every_field_is_in_one_family(side: str) -> None:
    there, rows = language(side), covered(side)

    none(f"{field}: in no family" for field in there - rows.keys())
    none(f"{field}: in {count} families" for field, count in rows.items() if count > 1)
    none(f"{field}: no such field" for field in rows.keys() - there)


def test_a_field_without_a_row_would_be_found() -> None:
    schema = {
        "properties": {
            "plain": {"type": "string"},
            "either": {
                "type": ["string", "object"],
                "properties": {"text": {"type": "null"}},
            },
            "entries": {
                "type": "object",
                "additionalProperties": {"properties": {"path": {"type": "string"}}},
            },
            "rows": {"type": "array", "items": {"properties": {"name": {}}}},
            "words": {"type": "array", "items": {"type": "string"}},
            "texts": {"type": "object", "additionalProperties": {"type": "string"}},
        }
    }

    assert set(fields_in(schema)) == {
        "plain",
        "either",
        "either.text",
        "entries",
        "entries.*.path",
        "rows",
        "rows.*.name",
        "words",
        "texts",
    }


@pytest.mark.parametrize("side", SIDES)
def test_every_field_has_a_case_that_changes_it(side: str) -> None:
    """Whatever is said of it: each difference in a field shows as a change somewhere."""
    changed = {
        field
        for case in single_changes()
        if case.changes
        for field in _differing(side, case.before, case.after)
    }

    none(language(side) - changed - NO_CASE[side])


def test_every_rule_has_a_case_in_some_direction() -> None:
    known = rules(EXTENSIONS)
    seen = {rule for case in single_changes() for rule, _ in case.changes}
    seen |= {known[rule].opposite for rule in seen}

    none(set(_own(known)) - seen)


def test_every_rule_has_an_opposite_that_names_it_back() -> None:
    known = rules(EXTENSIONS)

    none(
        f"{id_} -> {rule.opposite}"
        for id_, rule in known.items()
        if rule.opposite not in known or known[rule.opposite].opposite != id_
    )


def test_rules_of_changes_are_well_formed() -> None:
    every = [rule for family in families(EXTENSIONS) for rule in family.rules]

    assert len({rule.id for rule in every}) == len(every)
    none(
        rule.id
        for rule in every
        if not re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id)
    )
    none(rule.id for rule in every if not re.fullmatch(r"[A-Z`][^\n]*\.", rule.means))


def _own(known: Mapping[str, Any]) -> Iterator[str]:
    """The rules that this table is for.

    Those of schemas have one of their own, and an extension without a family of changes is in
    `tests/extension/`.
    """
    for id_ in known:
        if id_.partition("/")[0] not in ("parameter", "result", "extension"):
            yield id_


def _differing(side: str, before: Any, after: Any) -> Iterator[str]:
    """The fields in which two sides of a case differ."""
    for name in {*before, *after}:
        folder, _, kind = name.rpartition("/")
        if folder in ("mcp_resources", "mcp_prompts"):
            kind = folder.removesuffix("s")
        if (kind if kind in SIDES else "tool") != side:
            continue
        trees = [files.get(name) or {} for files in (before, after)]
        for field in language(side):
            values = [list(_values(tree, field.split("."))) for tree in trees]
            texts = [json.dumps(value, default=str) for value in values]
            if texts[0] != texts[1]:
                yield field


def _values(tree: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield tree
    elif steps[0] == "*":
        entries = tree.values() if isinstance(tree, dict) else tree
        for entry in entries if isinstance(tree, (dict, list)) else ():
            yield from _values(entry, steps[1:])
    elif isinstance(tree, dict) and steps[0] in tree:
        yield from _values(tree[steps[0]], steps[1:])


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

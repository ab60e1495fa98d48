"""Every field of the spec language says what a change means, and every kind has its case."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from string import Formatter
from typing import Any

import pytest
import yaml

from tests.diff.single_changes import single_changes
from tests.repository import EXTENSIONS, MISSING
from tests.test_structure import assert_none
from toolcast.diff.comparison import load_change_rules
from toolcast.diff.table import FILE_KINDS, list_fields, load_spec_schema
from toolcast.diff.walk import has_change_annotation
from toolcast.extensions import ExtensionError, Fields
from toolcast.package_data import read_package_file
from toolcast.spec_language import spec_language
from toolcast.spec_language.spec_language import list_subfields

# Below them every keyword is a field: they have a table of their own.
SCHEMAS = {"parameters", "returns"}
# A tool of another name is another file here; what a field comes to is no field of a file.
NO_CASE: Mapping[str, set[str]] = {
    "tool": {"name", "module", "left_out", "examples.*.outcome", *SCHEMAS},
    "toolset": set(),
    "mcp_resource": {"name"},
    "mcp_prompt": {"name", "required"},
    # The cases have no extension but those of this repository.
    "workspace": {"extensions"} if MISSING else set(),
}


def unsaid(node: Mapping[str, Any], way: str = "") -> Iterator[str]:
    """The fields of which nothing says what a change means.

    What is said of a field holds for all that is in it, where nothing is said of that.
    """
    for name, part in list_subfields(node):
        inner = f"{way}.{name}" if way else name
        if "const" in part:
            continue
        if has_change_annotation(part) and "change" not in part:
            yield from unsaid(part, inner)
        elif not has_change_annotation(part):
            yield inner


def changing(kind: str) -> set[str]:
    """The fields of a file that a case has to change."""
    return {f.dotted_path for f in list_fields(kind, EXTENSIONS) if "change" in f.node}


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_field_says_what_a_change_of_it_means(kind: str) -> None:
    assert_none(unsaid(load_spec_schema(kind, EXTENSIONS)))


def test_a_field_that_says_nothing_would_be_found() -> None:
    schema: dict[str, Any] = {
        "properties": {
            "version": {"const": 1},
            "plain": {"type": "string"},
            "said": {"type": "object", "change": {"any": {}}, "properties": {"in": {}}},
            "half": {"properties": {"one": {"change": {"any": {}}}, "other": {}}},
            "entries": {"additionalProperties": {"properties": {"path": {}}}},
        }
    }

    assert set(unsaid(schema)) == {"plain", "half.other", "entries"}


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_field_has_a_case_that_changes_it(kind: str) -> None:
    """Whatever is said of it: each difference in a field shows as a change somewhere."""
    changed = {
        field
        for case in single_changes()
        if case.changes
        for field in _differing(kind, case.before, case.after)
    }

    assert_none(changing(kind) - changed - NO_CASE[kind])


def test_every_kind_fires_in_a_case() -> None:
    """In some direction: an event that cannot happen, or is mistyped, would never."""
    known = load_change_rules(EXTENSIONS)
    seen = {rule for case in single_changes() for rule, _ in case.changes}
    seen |= {change.rule.id for c in single_changes() for change in c.compared_back[0]}

    if MISSING:
        seen |= {id_ for id_ in known if id_.startswith("workspace.extensions/")}
    assert_none(set(_own(known)) - seen)


def test_every_sentence_is_said_in_a_case() -> None:
    """With all that it names: one that names what nobody gives it fails where it is said."""
    kinds = yaml.safe_load(read_package_file("diff", "rows.yaml"))["kinds"]
    said = defaultdict[str, set[str]](set)
    for case in single_changes():
        for change in (*case.compared.changes, *case.compared_back.changes):
            said[change.rule.id].add(change.message)

    assert_none(
        f"{id_}: {sentence}"
        for id_, row in kinds.items()
        for sentence in _sentences(row.get("says", {}))
        if not any(_says(message, sentence) for message in said[id_])
    )


def test_every_kind_has_an_opposite_that_names_it_back() -> None:
    known = load_change_rules(EXTENSIONS)
    # A tool that takes a reserved name takes it out of the reserved ones.
    one_way = {"toolset.reserved_names/reused"}

    assert_none(
        f"{id_} -> {rule.opposite}"
        for id_, rule in known.items()
        if rule.opposite not in known
        or (known[rule.opposite].opposite != id_ and id_ not in one_way)
    )


def test_kinds_of_changes_are_well_formed() -> None:
    known = load_change_rules(EXTENSIONS)

    assert_none(
        id_
        for id_ in known
        if not re.fullmatch(r"[a-z]+(\.[A-Za-z_]+)*/[a-z0-9]+(-[a-z0-9]+)*", id_)
    )
    assert_none(
        r.id for r in known.values() if not re.fullmatch(r"[A-Z`][^\n{}]*\.", r.meaning)
    )
    assert_none(id_ for id_, rule in known.items() if id_ != rule.id)


def test_no_two_fields_have_a_kind_in_common() -> None:
    """An id is made of a path without the keys of mappings."""
    of_kinds: dict[str, str] = {}
    for kind in FILE_KINDS:
        for field in list_fields(kind, EXTENSIONS):
            way = f"{kind}.{field.dotted_path}"
            for event in field.node.get("change", {}):
                plain = f"{way.replace('.*', '')}/{event}"
                assert of_kinds.setdefault(plain, way) == way


def test_a_mistyped_event_of_an_extension_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = {"type": "boolean", "change": {"lowred": {"call": "risky"}}}
    monkeypatch.setattr(spec_language, "load_fields", lambda _: Fields({"owner": node}))
    with pytest.raises(ExtensionError, match="lowred"):
        spec_language.get_schema("tool", ("mistyped",))


def _sentences(says: str | Mapping[str, str]) -> Iterator[str]:
    yield from [says] if isinstance(says, str) else says.values()


def _says(message: str, sentence: str) -> bool:
    """Whether a message is a sentence with each of its names filled in."""
    parts = (re.escape(words) for words, *_ in Formatter().parse(sentence))
    return re.match("[^{}]+".join(parts), message) is not None


def _own(known: Mapping[str, Any]) -> Iterator[str]:
    """The kinds that this table is for.

    Those of schemas have one of their own, and an extension's field of which nothing is said
    is in `tests/extension/`.
    """
    for id_ in known:
        if id_.partition("/")[0] not in ("parameter", "result", "extension"):
            yield id_


def _differing(kind: str, before: Any, after: Any) -> Iterator[str]:
    """The fields in which two sides of a case differ."""
    for name in {*before, *after}:
        folder, _, file = name.rpartition("/")
        if folder in ("mcp_resources", "mcp_prompts"):
            file = folder.removesuffix("s")
        if (file if file in FILE_KINDS else "tool") != kind:
            continue
        trees = [files.get(name) or {} for files in (before, after)]
        for field in changing(kind):
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

"""Change annotations of spec fields: every field has one, and every kind has a case."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from string import Formatter
from typing import Any

import pytest
import yaml

from tests.diff.single_changes import SingleChange, load_single_changes
from tests.repository import EXTENSIONS, MISSING
from tests.test_structure import assert_none
from toolcast.diff.comparison import load_change_rules
from toolcast.diff.table import FILE_KINDS, list_fields, load_spec_schema
from toolcast.diff.walk import has_change_annotation
from toolcast.extensions import ExtensionError, Fields
from toolcast.package_data import read_package_file
from toolcast.spec_language import spec_language
from toolcast.spec_language.spec_language import list_subfields

# Schemas have a table of kinds of their own.
SCHEMAS = {"parameters", "returns"}
# Cases identify tools by name, and computed fields are not part of a file.
NO_CASE: Mapping[str, set[str]] = {
    "tool": {"name", "module", "omitted_by_default", "examples.*.outcome", *SCHEMAS},
    "toolset": set(),
    "mcp_resource": {"name"},
    "mcp_prompt": {"name", "required"},
    # Only the extensions of this repository have cases.
    "workspace": {"extensions"} if MISSING else set(),
}


def list_unannotated_fields(node: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the fields without an annotation `change`.

    A field's annotation also applies to its nested fields that have none.
    """
    for name, part in list_subfields(node):
        nested_path = f"{path}.{name}" if path else name
        if "const" in part:
            continue
        if has_change_annotation(part) and "change" not in part:
            yield from list_unannotated_fields(part, nested_path)
        elif not has_change_annotation(part):
            yield nested_path


@cache
def list_fields_with_changes(kind: str) -> set[str]:
    """Return the fields of a kind of file that need a case."""
    return {f.dotted_path for f in list_fields(kind, EXTENSIONS) if "change" in f.node}


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_spec_field_declares_the_changes_that_diff_reports(kind: str) -> None:
    assert_none(list_unannotated_fields(load_spec_schema(kind, EXTENSIONS)))


@pytest.mark.parametrize("kind", FILE_KINDS)
def test_every_spec_field_has_a_case_with_a_reported_change(kind: str) -> None:
    """A difference of each field causes at least one change."""
    cases = [case for case in load_single_changes() if case.changes]
    pairs = [(case.before, case.after) for case in cases]
    changed = {field for pair in pairs for field in _list_differing_fields(kind, *pair)}
    assert_none(list_fields_with_changes(kind) - changed - NO_CASE[kind])


def test_every_change_kind_and_message_template_of_diff_has_a_test_case() -> None:
    """An impossible event has no case; a template with an unknown placeholder fails in it."""
    known = load_change_rules(EXTENSIONS)
    cases = defaultdict[str, list[SingleChange]](list)
    for case in load_single_changes():
        ids = {id_ for id_, _ in case.changes}
        opposites = {known[id_].opposite for id_ in ids}
        for id_ in ids.union(opposites if case.back is None else case.back):
            cases[id_].append(case)
    seen = set(cases)
    if MISSING:
        seen |= {id_ for id_ in known if id_.startswith("workspace.extensions/")}
    assert_none(set(_list_own_kinds(known)) - seen)
    kinds = yaml.safe_load(read_package_file("diff", "rows.yaml"))["kinds"]
    assert_none(
        f"{id_}: {template}"
        for id_, row in kinds.items()
        for template in _list_templates(row.get("says", {}))
        if not any(_has_message(case, id_, template) for case in cases[id_])
    )


def test_diff_change_kinds_have_symmetric_opposites() -> None:
    known = load_change_rules(EXTENSIONS)
    # The opposite of a reused name is a reserved name; the opposite of that is a removed one.
    one_way = {"toolset.reserved_names/reused"}
    assert_none(
        f"{id_} -> {rule.opposite}"
        for id_, rule in known.items()
        if rule.opposite not in known
        or (known[rule.opposite].opposite != id_ and id_ not in one_way)
    )


def test_diff_change_kinds_have_valid_ids_and_one_sentence_meanings() -> None:
    known = load_change_rules(EXTENSIONS)
    valid_id = re.compile(r"[a-z]+(\.[A-Za-z_]+)*/[a-z0-9]+(-[a-z0-9]+)*")
    assert_none(id_ for id_ in known if not valid_id.fullmatch(id_))
    sentence = re.compile(r"[A-Z`][^\n{}]*\.")
    assert_none(r.id for r in known.values() if not sentence.fullmatch(r.meaning))
    assert_none(id_ for id_, rule in known.items() if id_ != rule.id)


def test_each_spec_field_has_its_own_diff_change_kinds() -> None:
    """Ids omit the keys that a file chooses, so that different fields could have the same id."""
    paths: dict[str, str] = {}
    for kind in FILE_KINDS:
        for field in list_fields(kind, EXTENSIONS):
            path = f"{kind}.{field.dotted_path}"
            for event in field.node.get("change", {}):
                plain = f"{path.replace('.*', '')}/{event}"
                assert paths.setdefault(plain, path) == path


def test_extension_field_with_an_unknown_change_event_raises_extension_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = {"type": "boolean", "change": {"lowred": {"call": "risky"}}}
    monkeypatch.setattr(spec_language, "load_fields", lambda _: Fields({"owner": node}))
    with pytest.raises(ExtensionError, match="lowred"):
        spec_language.get_schema("tool", ("mistyped",))


def _list_templates(templates: str | Mapping[str, str]) -> Iterator[str]:
    yield from [templates] if isinstance(templates, str) else templates.values()


def _has_message(case: SingleChange, id_: str, template: str) -> bool:
    """Return whether a case has a change of a kind whose message matches a template."""
    parts = (re.escape(literal) for literal, *_ in Formatter().parse(template))
    pattern = "[^{}]+".join(parts)
    return any(
        change.rule.id == id_ and re.match(pattern, change.message)
        for change in (*case.comparison.changes, *case.reverse_comparison.changes)
    )


def _list_own_kinds(known: Mapping[str, Any]) -> Iterator[str]:
    """Yield the kinds that need a case here.

    Schemas have their own cases, and `tests/extension/` tests fields without annotations.
    """
    for id_ in known:
        if id_.partition("/")[0] not in ("parameter", "result", "extension"):
            yield id_


def _list_differing_fields(kind: str, before: Any, after: Any) -> Iterator[str]:
    """Yield the fields that differ in two versions of a case."""
    for name in {*before, *after}:
        folder, _, file = name.rpartition("/")
        if folder in ("mcp_resources", "mcp_prompts"):
            file = folder.removesuffix("s")
        if (file if file in FILE_KINDS else "tool") != kind:
            continue
        trees = [files.get(name) or {} for files in (before, after)]
        for field in list_fields_with_changes(kind):
            values = [list(_list_values(tree, field.split("."))) for tree in trees]
            texts = [json.dumps(value, default=str) for value in values]
            if texts[0] != texts[1]:
                yield field


def _list_values(tree: Any, steps: list[str]) -> Iterator[Any]:
    if not steps:
        yield tree
    elif steps[0] == "*":
        entries = tree.values() if isinstance(tree, dict) else tree
        for entry in entries if isinstance(tree, (dict, list)) else ():
            yield from _list_values(entry, steps[1:])
    elif isinstance(tree, dict) and steps[0] in tree:
        yield from _list_values(tree[steps[0]], steps[1:])

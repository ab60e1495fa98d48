"""Comparison of unusual tool lists: no errors, and every difference is reported."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diff.lists.test_public_lists import print_diff
from tests.program import toolcast
from tests.properties import limit_examples

WORDS = st.sampled_from(
    [
        "", "a", "`a`", "\u202e", "\u200b", "object", "string", "#/$defs/a", "::error::x",
        "http://json-schema.org/draft-07/schema#", "^(a+)+$", "x" * 3_000, "<!-- b -->",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "type", "properties", "items", "enum", "const", "$ref", "anyOf", "not", "required",
        "description", "default", "minimum", "pattern", "format", "$schema", "title",
        "additionalProperties", "$defs", "prefixItems", "propertyNames", "readOnlyHint",
        "taskSupport", "a", "b",
    ]
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, False, 0, 1, -1, 10**30, 0.5, 1e308]) | WORDS,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
MEMBERS = st.sampled_from(
    [
        "title", "description", "inputSchema", "outputSchema", "annotations", "icons",
        "_meta", "execution", "other",
    ]
)  # fmt: skip
TOOLS = st.builds(
    lambda name, members: {"name": name, **members},
    st.sampled_from(["a", "b", "c d", "", "x/y"]),
    st.dictionaries(MEMBERS, VALUES, max_size=5),
)
LISTS = st.lists(TOOLS, min_size=1, max_size=3)
FORMATS = st.sampled_from(["text", "markdown", "github", "sarif"])


def test_diff_reports_a_hint_that_is_not_a_boolean(tmp_path: Path) -> None:
    pairs = ((True, "A"), ("yes", "B"))
    hints = ({"readOnlyHint": hint, "title": title} for hint, title in pairs)
    lists = ([{"name": "a", "inputSchema": {}, "annotations": hint}] for hint in hints)
    changes = compare_tools(tmp_path, *lists)["changes"]
    assert [(change["rule"], change["path"]) for change in changes] == [
        ("tool.annotations/changed", ["annotations", "title"]),
        ("listing.tool/changed", ["annotations", "readOnlyHint"]),
    ]


def compare_tools(folder: Path, before: Any, after: Any) -> Any:
    report = print_diff(folder, {"tools": before}, {"tools": after}, format_="json")
    return json.loads(report)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"annotations": {"readOnlyHint": False, "destructiveHint": True}}),
        (
            {
                "annotations": {
                    "readOnlyHint": False,
                    "destructiveHint": True,
                    "idempotentHint": False,
                    "openWorldHint": True,
                }
            },
            {},
        ),
        (
            {"annotations": {"readOnlyHint": True}},
            {"annotations": {"readOnlyHint": True, "destructiveHint": False}},
        ),
        (
            {"inputSchema": {"properties": {"a": {"maximum": 1}}}},
            {"inputSchema": {"properties": {"a": {"maximum": 1.0}}}},
        ),
    ],
)
def test_diff_grades_explicit_defaults_and_other_number_forms_as_safe(
    tmp_path: Path, before: Any, after: Any
) -> None:
    lists = ([{"name": "a", "inputSchema": {}, **tool}] for tool in (before, after))
    [change] = compare_tools(tmp_path, *lists)["changes"]
    assert change["rule"] == "listing.tool/restated"
    assert set(change["grades"].values()) == {"safe"}


GOOD = {"name": "find", "description": "Finds.", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("tools", "rule"),
    [
        ([{**GOOD, "inputSchema": None}], "compat/strict-client"),
        ([{**GOOD, "description": 5}], "compat/strict-client"),
        ([{**GOOD, "annotations": [1]}], "compat/strict-client"),
        ([GOOD, {**GOOD, "name": "f\u0456nd"}], "name/portability"),
        ([GOOD, GOOD], "name/similar"),
    ],
)
def test_json_report_lists_the_rule_that_an_invalid_new_tool_violates_as_introduced(
    tmp_path: Path, tools: Any, rule: str
) -> None:
    introduced = compare_tools(tmp_path, [GOOD], tools)["introduced"]
    assert rule in [item["rule"] for item in introduced]


def normalize_tools(tools: list[dict[str, Any]]) -> list[str]:
    """Return the tools without the order of tools and members."""
    return sorted(json.dumps(tool, sort_keys=True) for tool in tools)


@limit_examples(60)
@given(LISTS, LISTS, FORMATS)
def test_diff_compares_any_two_tool_lists_and_reports_every_difference(
    old: list[dict[str, Any]], new: list[dict[str, Any]], format_: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        changes = compare_tools(folder, old, new)["changes"]
        assert changes or normalize_tools(old) == normalize_tools(new)
        done = toolcast(folder, "diff", "old.json", "new.json", "--format", format_)
        assert done.returncode in (0, 1), done.stderr
        same = toolcast(folder, "diff", "old.json", "old.json")
        assert same.stdout == "no change against old.json\n"

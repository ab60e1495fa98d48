"""Unusual tool lists are compared without errors, and each difference is reported."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.program import toolcast
from tests.properties import tried

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
    st.one_of(
        st.none(),
        st.booleans(),
        st.sampled_from([0, 1, -1, 10**30, 0.5, 1e308]),
        WORDS,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)
    ),
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
FORMATS = st.sampled_from(["text", "json", "markdown", "github", "sarif"])


def test_what_no_spec_can_say_is_told_beside_what_specs_say(tmp_path: Path) -> None:
    for file, hint, title in (("old.json", True, "A"), ("new.json", "yes", "B")):
        annotations = {"readOnlyHint": hint, "title": title}
        tool = {"name": "a", "inputSchema": {}, "annotations": annotations}
        (tmp_path / file).write_text(json.dumps({"tools": [tool]}), encoding="utf-8")
    done = toolcast(tmp_path, "diff", "old.json", "new.json", "--format", "json")
    assert [
        (one["rule"], one["path"]) for one in json.loads(done.stdout)["changes"]
    ] == [
        ("tool.annotations/changed", ["annotations", "title"]),
        ("listing.tool/changed", ["annotations", "readOnlyHint"]),
    ]


def compared(folder: Path, before: Any, after: Any) -> Any:
    for file, tools in (("old.json", before), ("new.json", after)):
        (folder / file).write_text(json.dumps({"tools": tools}), encoding="utf-8")
    done = toolcast(folder, "diff", "old.json", "new.json", "--format", "json")
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"annotations": {"readOnlyHint": False, "destructiveHint": True}}),
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
def test_what_says_the_same_in_another_way_is_safe(
    tmp_path: Path, before: Any, after: Any
) -> None:
    sides = [[{"name": "a", "inputSchema": {}, **one}] for one in (before, after)]
    [found] = compared(tmp_path, *sides)["changes"]
    assert found["rule"] == "listing.tool/restated"
    assert set(found["grades"].values()) == {"safe"}


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
def test_what_no_spec_may_be_is_found(tmp_path: Path, tools: Any, rule: str) -> None:
    assert rule in {
        one["rule"] for one in compared(tmp_path, [GOOD], tools)["introduced"]
    }


def spelled(tools: list[dict[str, Any]]) -> list[str]:
    """Return the tools without the order of tools and members."""
    return sorted(json.dumps(tool, sort_keys=True) for tool in tools)


@tried(100)
@given(LISTS, LISTS, FORMATS)
def test_any_two_lists(
    old: list[dict[str, Any]], new: list[dict[str, Any]], format_: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, tools in (("old.json", old), ("new.json", new)):
            (folder / file).write_text(json.dumps({"tools": tools}), encoding="utf-8")
        words = ("diff", "old.json", "new.json", "--format", format_)
        done = toolcast(folder, *words)
        assert done.returncode in (0, 1), done.stderr
        told = toolcast(folder, *words[:3], "--format", "json")
        changes = json.loads(told.stdout)["changes"]
        assert changes or spelled(old) == spelled(new)
        same = toolcast(folder, "diff", "old.json", "old.json")
        assert same.stdout == "no change against old.json\n"

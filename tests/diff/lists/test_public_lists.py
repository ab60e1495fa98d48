"""Grades of changes between two versions of lists from public reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.program import toolcast
from toolcast.diff.schemas.patterns import includes_pattern, list_examples
from toolcast_runtime.core.validation.compiled import build_validator

FOLDER = Path(__file__).parent / "public"
OBJECT = {"type": "object"}
NOT_READ_ONLY = {"tool.annotations.readOnlyHint/to-false": "risky risky"}
Tool = dict[str, Any]


def write_lists(folder: Path, *lists: Any) -> None:
    for name, tools in zip(("old.json", "new.json"), lists, strict=True):
        (folder / name).write_text(json.dumps(tools), "utf-8")


def print_diff(folder: Path, old: Any, new: Any, *, format_: str = "text") -> str:
    """Return the output of `toolcast diff` for two tool lists."""
    write_lists(folder, old, new)
    return toolcast(folder, "diff", "old.json", "new.json", "--format", format_).stdout


def compare(folder: Path, old: Any, new: Any) -> list[dict[str, Any]]:
    """Return the changes that `toolcast diff` reports between two tool lists."""
    report = json.loads(print_diff(folder, old, new, format_="json"))
    changes: list[dict[str, Any]] = report["changes"]
    return changes


def build_tool(schema: Mapping[str, Any], **members: Any) -> Tool:
    return {"name": "t", "description": "Does it.", "inputSchema": schema, **members}


def build_property(schema: Any, *, with_definition: bool = False) -> list[Tool]:
    """Return a list of one tool with the parameter `a`, and optionally a definition X."""
    definition = {**OBJECT, "properties": {"x": {"type": "string"}}}
    definitions = {"$defs": {"X": definition}} if with_definition else {}
    return [build_tool({**OBJECT, **definitions, "properties": {"a": schema}})]


def compare_schemas(folder: Path, old: Any, new: Any) -> dict[str, str]:
    """Return the grade for callers of each kind of change of a nested property."""
    tools = [build_property(schema, with_definition=True) for schema in (old, new)]
    return {
        change["rule"].partition("/")[2]: change["grades"]["call"]
        for change in compare(folder, *tools)
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a", {"parameter/description-changed": "safe risky"}),
        ("b", {"parameter/additional-properties-closed": "risky safe"}),
        ("c", {"parameter/property-added": "risky safe"}),
        ("d", {"parameter/additional-properties-closed": "risky safe"}),
        ("e", {"parameter/pattern-changed": "breaking safe"}),
        ("f", {"parameter/pattern-changed": "safe risky"}),
        ("g", {"parameter/rewritten": "safe risky"}),
        ("h", {"parameter/property-added": "safe risky"}),
        ("i", {"parameter/required-property-added": "breaking safe"}),
        ("j", {"parameter/additional-properties-closed": "breaking safe"}),
        ("snake", {"result/type-changed": "breaking safe", **NOT_READ_ONLY}),
        ("unevaluated", {"parameter/unevaluated-properties-set": "risky safe"}),
        (
            "dependent",
            {
                "parameter/condition-set": "safe risky",
                "parameter/dependent-required-removed": "safe safe",
            },
        ),
        (
            "multiple",
            {
                "parameter/type-narrowed": "safe risky",
                "parameter/multiple-of-removed": "safe safe",
            },
        ),
        ("hint", {**NOT_READ_ONLY, "listing.tool/changed": "safe risky"}),
    ],
)
def test_diff_grades_tool_list_changes_from_public_bug_reports_as_expected(
    name: str, expected: dict[str, str], tmp_path: Path
) -> None:
    files = (FOLDER / f"{name}{number}.json" for number in (1, 2))
    changes = compare(
        tmp_path, *(json.loads(file.read_text("utf-8")) for file in files)
    )
    assert {
        change["rule"]: f"{change['grades']['call']} {change['grades']['prompt']}"
        for change in changes
    } == expected


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ({"idempotentHint": True}, {}, ["listing.tool/changed"]),
        ({"destructiveHint": False}, {}, ["listing.tool/changed"]),
        ({"idempotentHint": False}, {}, []),
        ({"destructiveHint": True}, {}, []),
        ({}, {"destructiveHint": True}, []),
        ({"idempotentHint": True}, {"idempotentHint": True}, []),
    ],
)
def test_diff_reports_changed_hints_when_a_tool_is_no_longer_read_only(
    old: Tool, new: Tool, rules: list[str], tmp_path: Path
) -> None:
    """An explicit default is no change."""
    changes = compare(
        tmp_path,
        [build_tool(OBJECT, annotations={"readOnlyHint": True, **old})],
        [build_tool(OBJECT, annotations={"readOnlyHint": False, **new})],
    )
    found = [change["rule"].removeprefix("tool.annotations.") for change in changes]
    ignored = ("readOnlyHint/to-false", "listing.tool/restated")
    assert [rule for rule in found if rule not in ignored] == rules


LONG = "A long text that describes the parameter and its effect on the result, and then"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"description": f"50 {LONG * 3}"}, {"description": f"99 {LONG * 3}"}),
        ({"title": f"{LONG} 50 {LONG}"}, {"title": f"{LONG} 99 {LONG}"}),
        ({"default": f"{LONG} `50`"}, {"default": f"{LONG} `99`"}),
        ({"enum": [f"{LONG} 50"]}, {"enum": [f"{LONG} 99"]}),
        ({"const": f"{LONG} 50"}, {"const": f"{LONG} 99"}),
        ({"pattern": "a" * 150 + "50"}, {"pattern": "a" * 150 + "99"}),
    ],
)
def test_diff_message_on_a_long_value_contains_its_changed_part(
    old: Tool, new: Tool, tmp_path: Path
) -> None:
    for change in compare(tmp_path, build_property(old), build_property(new)):
        assert "50" in change["message"], change
        assert "99" in change["message"], change
        assert len(change["message"]) < 700


@pytest.mark.parametrize("is_nested", [False, True])
def test_diff_text_report_contains_the_differing_ends_of_long_tool_titles(
    is_nested: bool, tmp_path: Path
) -> None:
    titles = ({"title": f"{LONG} {number}"} for number in (50, 99))
    members = ({"annotations": title} if is_nested else title for title in titles)
    changes = compare(tmp_path, *([build_tool(OBJECT, **m)] for m in members))
    assert len(changes) == 1
    done = toolcast(tmp_path, "diff", "old.json", "new.json").stdout
    assert "50" in done and "99" in done


@pytest.mark.parametrize(
    ("old", "new", "grade"),
    [
        ({}, {"additionalProperties": False}, "risky"),
        ({"additionalProperties": True}, {"additionalProperties": False}, "breaking"),
        ({}, {"unevaluatedProperties": False}, "risky"),
        ({}, {"additionalProperties": {"type": "string"}}, "risky"),
        ({}, {"propertyNames": {"maxLength": 3}}, "risky"),
        ({"additionalProperties": False}, {}, "safe"),
    ],
)
def test_toolcast_diff_grades_restricted_properties_as_risky_or_breaking(
    old: Tool, new: Tool, grade: str, tmp_path: Path
) -> None:
    """It is breaking if the old schema explicitly allowed additional properties."""
    base = {**OBJECT, "properties": {"x": {"type": "string"}}}
    tools = [[build_tool({**base, **schema})] for schema in (old, new)]
    assert [c["grades"]["call"] for c in compare(tmp_path, *tools)] == [grade]


PATTERNS = [
    ("^[.a-z]+$", "^[./a-z]+$", "safe"),
    ("^[a-z]{1,5}$", "^[a-z]{1,9}$", "safe"),
    ("^[0-9]+$", r"^\d+$", "safe"),
    (r"^\d+$", r"^\w+$", "safe"),
    ("^[^/ ]+$", "^[^/]+$", "safe"),
    ("^abc$", "abc", "safe"),
    ("^(([a-z]))$", "^[a-z]$", "safe"),
    ("^[a-z]+$", "^.+$", "safe"),
    ("^[a-z]{1,9}$", "^[a-z]{1,5}$", "breaking"),
    ("^[a-f0-9]{40}$", "^[a-f0-9]{64}$", "breaking"),
    ("abc", "^abc$", "breaking"),
    ("^[^/]+$", "^[^/ ]+$", "breaking"),
    ("^https?://", "^https://", "breaking"),
    (r"^[\w.-]+$", r"^[\w.]+$", "breaking"),
    ("^(?:[a-z]+|[0-9]+)$", "^[a-z]+$", "breaking"),
    ("^(?:ab|cd)+$", "^(?:ab|cd|ef)+$", "risky"),
    (r"^\p{L}+$", "^[a-z]+$", "risky"),
]


@pytest.mark.parametrize(("old", "new", "grade"), PATTERNS)
def test_toolcast_diff_grades_a_changed_pattern_by_inclusion_and_examples(
    old: str, new: str, grade: str, tmp_path: Path
) -> None:
    schemas = ({"type": "string", "pattern": pattern} for pattern in (old, new))
    [change] = compare(tmp_path, *map(build_property, schemas))
    assert change["grades"]["call"] == grade
    assert ("witness" in change) == (grade == "breaking")
    assert ("it is not proved" in change["reason"]) == (grade == "risky")


@pytest.mark.parametrize(("first", "second", "_"), PATTERNS)
def test_pattern_that_includes_another_accepts_the_examples_for_the_other(
    first: str, second: str, _: str
) -> None:
    for accepted, sent in ((first, second), (second, first)):
        if includes_pattern(accepted, sent):
            validator = build_validator({"pattern": accepted})
            examples = [*list_examples(sent), *list_examples(accepted)]
            is_sent = build_validator({"pattern": sent}).is_valid
            assert all(map(validator.is_valid, filter(is_sent, examples)))


REF = {"$ref": "#/$defs/X"}
ALL_OF = {"allOf": [REF]}
CLOSED = {"unevaluatedProperties": False}
TEXT = {"type": "string"}
LOCKED = {"additionalProperties": False}
PATTERN = {"patternProperties": {"^a": TEXT}}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (REF, {**REF, **CLOSED}, {"unevaluated-properties-set": "risky"}),
        (ALL_OF, {**ALL_OF, **CLOSED}, {"unevaluated-properties-set": "risky"}),
        (
            {"allOf": [REF, {"properties": {"y": {}}}]},
            {"allOf": [REF, {"properties": {"y": {}}}], **CLOSED},
            {"unevaluated-properties-set": "risky"},
        ),
        (
            {**ALL_OF, "properties": {"y": {}}},
            {**ALL_OF, "properties": {"y": {}}, "unevaluatedProperties": TEXT},
            {"unevaluated-properties-set": "risky"},
        ),
        ({**REF, **CLOSED}, REF, {"unevaluated-properties-removed": "safe"}),
        # `additionalProperties` does not see the properties of `allOf`.
        (ALL_OF, {**ALL_OF, **LOCKED}, {"additional-properties-closed": "breaking"}),
        (REF, {**REF, **PATTERN}, {"pattern-property-set": "risky"}),
        # `unevaluatedProperties` inside of `allOf` does not see the properties next to it.
        (
            {"allOf": [{"properties": {"x": {}}}], "properties": {"y": {}}},
            {"allOf": [{"properties": {"x": {}}, **CLOSED}], "properties": {"y": {}}},
            {"unevaluated-properties-set": "breaking"},
        ),
    ],
)
def test_toolcast_diff_reports_only_the_keyword_added_next_to_a_ref(
    old: Tool, new: Tool, expected: dict[str, str], tmp_path: Path
) -> None:
    assert compare_schemas(tmp_path, old, new) == expected


INTEGRAL = {"type": "number", "multipleOf": 1}
THEN = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (INTEGRAL, {"type": "integer"}),
        ({"type": "integer"}, INTEGRAL),
        ({"type": "number", "multipleOf": 5}, {"type": "integer", "multipleOf": 5}),
        ({"type": ["number", "null"], "multipleOf": 1}, {"type": ["integer", "null"]}),
        ({"dependentRequired": {"a": ["b"]}}, THEN),
        ({"dependentRequired": {"a": ["c"], "c": ["b"]}}, THEN),
        ({"dependentRequired": {"a": ["b", "c"]}}, THEN),
        ({"required": ["a"], "dependentRequired": {"a": ["b"]}}, {"required": ["b"]}),
    ],
)
def test_diff_grades_no_change_between_equivalent_schemas_as_breaking(
    old: Tool, new: Tool, tmp_path: Path
) -> None:
    assert "breaking" not in compare_schemas(tmp_path, old, new).values()


def test_toolcast_diff_grades_a_stricter_condition_as_breaking(tmp_path: Path) -> None:
    old = {"dependentRequired": {"b": ["a"]}}
    assert "breaking" in compare_schemas(tmp_path, old, THEN).values()


@pytest.mark.parametrize(
    ("old", "new", "location"),
    [
        ({"properties": {}}, {}, "parameters.properties.a.properties"),
        ({"minLength": 0}, {}, "parameters.properties.a.minLength"),
        ({"type": ["string"]}, {"type": "string"}, "parameters.properties.a.type"),
        ({"enum": [1, 2]}, {"enum": [2, 1]}, "parameters.properties.a.enum"),
        ({"anyOf": [REF]}, REF, "parameters.properties.a"),
        ({"uniqueItems": False}, {}, "parameters.properties.a.uniqueItems"),
    ],
)
def test_diff_message_names_the_keyword_or_schema_written_in_another_form(
    old: Tool, new: Tool, location: str, tmp_path: Path
) -> None:
    """Old and new schema are equivalent."""
    tools = [build_property(schema, with_definition=True) for schema in (old, new)]
    messages = [change["message"] for change in compare(tmp_path, *tools)]
    assert any(f"`{location}" in message for message in messages), messages


@pytest.mark.parametrize("format_", ["text", "markdown", "github"])
def test_diff_report_on_an_equal_change_in_three_tools_has_an_invalid_example_call(
    format_: str, tmp_path: Path
) -> None:
    old, new = (
        {**OBJECT, "properties": {"n": {"type": "integer", "maximum": maximum}}}
        for maximum in (50, 20)
    )
    lists = ([build_tool(schema, name=name) for name in "pqr"] for schema in (old, new))
    output = print_diff(tmp_path, *lists, format_=format_)
    assert "was valid and is now invalid" in " ".join(output.split())
    assert '{"n": 50}' in output

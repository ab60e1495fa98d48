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
Tool = dict[str, Any]


def write_lists(folder: Path, *lists: Any) -> None:
    for name, tools in zip(("old.json", "new.json"), lists, strict=True):
        (folder / name).write_text(json.dumps(tools), "utf-8")


def compare(folder: Path, old: Any, new: Any) -> list[dict[str, Any]]:
    write_lists(folder, old, new)
    done = toolcast(folder, "diff", "old.json", "new.json", "--format", "json")
    changes: list[dict[str, Any]] = json.loads(done.stdout)["changes"]
    return changes


def build_tool(schema: Mapping[str, Any], **members: Any) -> Tool:
    return {"name": "t", "description": "Does it.", "inputSchema": schema, **members}


def compare_schemas(folder: Path, old: Any, new: Any) -> dict[str, str]:
    """Return the grade for callers of each kind of change of a nested property."""
    definitions = {"X": {**OBJECT, "properties": {"x": {"type": "string"}}}}
    tools = [
        [build_tool({**OBJECT, "$defs": definitions, "properties": {"a": schema}})]
        for schema in (old, new)
    ]
    changes = compare(folder, *tools)
    return {
        change["rule"].partition("/")[2]: change["grades"]["call"] for change in changes
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
        (
            "snake",
            {
                "result/type-changed": "breaking safe",
                "tool.annotations.readOnlyHint/to-false": "risky risky",
            },
        ),
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
        (
            "hint",
            {
                "tool.annotations.readOnlyHint/to-false": "risky risky",
                "listing.tool/changed": "safe risky",
            },
        ),
    ],
)
def test_toolcast_diff_has_the_expected_grades_for_public_report_tool_lists(
    name: str, expected: dict[str, str], tmp_path: Path
) -> None:
    lists = [
        json.loads((FOLDER / f"{name}{n}.json").read_text("utf-8")) for n in (1, 2)
    ]
    changes = compare(tmp_path, *lists)
    assert {
        change["rule"]: f"{change['grades']['call']} {change['grades']['prompt']}"
        for change in changes
    } == expected


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ({"idempotentHint": True}, {}, ["listing.tool/changed"]),
        ({"idempotentHint": True}, {"idempotentHint": False}, ["listing.tool/changed"]),
        ({"destructiveHint": False}, {}, ["listing.tool/changed"]),
        ({"idempotentHint": False}, {}, []),
        ({"destructiveHint": True}, {}, []),
        ({}, {"destructiveHint": True}, []),
        ({"idempotentHint": True}, {"idempotentHint": True}, []),
    ],
)
def test_toolcast_diff_compares_other_hints_when_a_tool_is_no_longer_read_only(
    old: Tool, new: Tool, rules: list[str], tmp_path: Path
) -> None:
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
        ({"description": f"{LONG} 50."}, {"description": f"{LONG} 99."}),
        ({"description": f"50 {LONG * 3}"}, {"description": f"99 {LONG * 3}"}),
        ({"title": f"{LONG} 50 {LONG}"}, {"title": f"{LONG} 99 {LONG}"}),
        ({"default": f"{LONG} `50`"}, {"default": f"{LONG} `99`"}),
        ({"enum": [f"{LONG} 50"]}, {"enum": [f"{LONG} 99"]}),
        ({"const": f"{LONG} 50"}, {"const": f"{LONG} 99"}),
        ({"pattern": "a" * 150 + "50"}, {"pattern": "a" * 150 + "99"}),
    ],
)
def test_toolcast_diff_message_on_long_schema_values_shows_the_difference(
    old: Tool, new: Tool, tmp_path: Path
) -> None:
    tools = [[build_tool({**OBJECT, "properties": {"a": s}})] for s in (old, new)]
    for change in compare(tmp_path, *tools):
        assert "50" in change["message"], change
        assert "99" in change["message"], change
        assert len(change["message"]) < 700


@pytest.mark.parametrize("member", ["title", "annotations"])
def test_toolcast_diff_message_on_long_titles_and_annotations_shows_the_difference(
    member: str, tmp_path: Path
) -> None:
    values = [f"{LONG} {number}" for number in (50, 99)]
    members = [
        {member: value if member == "title" else {"title": value}} for value in values
    ]
    changes = compare(tmp_path, *([build_tool(OBJECT, **m)] for m in members))
    done = toolcast(tmp_path, "diff", "old.json", "new.json").stdout
    assert len(changes) == 1
    assert "50" in done
    assert "99" in done


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
def test_toolcast_diff_grades_additional_properties_false_as_risky_or_breaking(
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
def test_toolcast_diff_grades_a_changed_json_schema_pattern_by_inclusion_and_examples(
    old: str, new: str, grade: str, tmp_path: Path
) -> None:
    tools = [
        [build_tool({**OBJECT, "properties": {"a": {"type": "string", "pattern": p}}})]
        for p in (old, new)
    ]
    [change] = compare(tmp_path, *tools)
    assert change["grades"]["call"] == grade
    assert ("witness" in change) == (grade == "breaking")
    assert ("it is not proved" in change["reason"]) == (grade == "risky")


@pytest.mark.parametrize(("first", "second", "_"), PATTERNS)
def test_json_schema_pattern_proved_to_include_another_accepts_its_examples(
    first: str, second: str, _: str
) -> None:
    """A pattern that is proved to include another one accepts its examples."""
    for accepted, sent in ((first, second), (second, first)):
        if includes_pattern(accepted, sent):
            validator = build_validator({"pattern": accepted})
            examples = filter(
                build_validator({"pattern": sent}).is_valid,
                [*list_examples(sent), *list_examples(accepted)],
            )
            assert all(map(validator.is_valid, examples))


REF = {"$ref": "#/$defs/X"}
ALL_OF = {"allOf": [REF]}
CLOSED = {"unevaluatedProperties": False}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (REF, {**REF, **CLOSED}, {"unevaluated-properties-set": "risky"}),
        (ALL_OF, {**ALL_OF, **CLOSED}, {"unevaluated-properties-set": "risky"}),
        (
            {**ALL_OF, "properties": {"y": {}}},
            {**ALL_OF, "properties": {"y": {}}, **CLOSED},
            {"unevaluated-properties-set": "risky"},
        ),
        (
            {"allOf": [REF, {"properties": {"y": {}}}]},
            {"allOf": [REF, {"properties": {"y": {}}}], **CLOSED},
            {"unevaluated-properties-set": "risky"},
        ),
        (
            ALL_OF,
            {**ALL_OF, "unevaluatedProperties": {"type": "string"}},
            {"unevaluated-properties-set": "risky"},
        ),
        ({**REF, **CLOSED}, REF, {"unevaluated-properties-removed": "safe"}),
        # `additionalProperties` does not see the properties of `allOf`.
        (
            ALL_OF,
            {**ALL_OF, "additionalProperties": False},
            {"additional-properties-closed": "breaking"},
        ),
        (
            REF,
            {**REF, "patternProperties": {"^a": {"type": "string"}}},
            {"pattern-property-set": "risky"},
        ),
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
def test_toolcast_diff_grades_an_equivalent_json_schema_as_not_breaking(
    old: Tool, new: Tool, tmp_path: Path
) -> None:
    assert "breaking" not in compare_schemas(tmp_path, old, new).values()


def test_toolcast_diff_grades_a_stricter_json_schema_condition_as_breaking(
    tmp_path: Path,
) -> None:
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
def test_toolcast_diff_message_on_an_equivalent_schema_names_its_location(
    old: Tool, new: Tool, location: str, tmp_path: Path
) -> None:
    tools = [
        [build_tool({**OBJECT, "properties": {"a": s}, "$defs": {"X": OBJECT}})]
        for s in (old, new)
    ]
    messages = [change["message"] for change in compare(tmp_path, *tools)]
    assert any(f"`{location}" in message for message in messages), messages


@pytest.mark.parametrize("format_", ["text", "markdown", "github"])
def test_toolcast_diff_shows_a_newly_invalid_example_for_grouped_equal_changes(
    format_: str, tmp_path: Path
) -> None:
    def build_list(maximum: int) -> list[Tool]:
        schema = {"properties": {"n": {"type": "integer", "maximum": maximum}}}
        return [build_tool({**OBJECT, **schema}, name=name) for name in "pqr"]

    write_lists(tmp_path, build_list(50), build_list(20))
    done = toolcast(tmp_path, "diff", "old.json", "new.json", "--format", format_)
    assert "was valid and is now invalid" in " ".join(done.stdout.split())
    assert '{"n": 50}' in done.stdout

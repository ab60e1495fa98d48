"""`spec/confirm-condition` evaluates conditions; it does not only read their root."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.rules.layout import findings_of, lay_out

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"type": "string", "enum": ["read", "delete"], "default": "delete"},
        "amount": {"type": "number", "minimum": 0, "default": 500},
        "force": {"type": "boolean"},
        "options": {"type": "object", "properties": {"all": {"type": "boolean"}}},
    },
}
DELETE = {"properties": {"mode": {"const": "delete"}}, "required": ["mode"]}
LARGE = {"properties": {"amount": {"minimum": 100}}, "required": ["amount"]}
FORCE = {"properties": {"force": {"const": True}}, "required": ["force"]}


def find(tmp_path: Path, condition: Any, parameters: Any = PARAMETERS) -> list[str]:
    """Return severity and message of the rule's findings."""
    lay_out(
        f"parameters: {json.dumps(parameters)}\n"
        f"confirm: {{message: Sure?, when: {json.dumps(condition)}}}\n",
        tmp_path,
    )
    return [
        f"{finding.severity.name}: {finding.message}"
        for finding in findings_of(tmp_path)
        if finding.rule == "spec/confirm-condition"
    ]


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        (DELETE, ["mode"]),
        ({"anyOf": [DELETE, LARGE]}, ["amount", "mode"]),
        ({"allOf": [DELETE]}, ["mode"]),
        ({"allOf": [DELETE, FORCE]}, ["mode"]),
        ({"allOf": [DELETE, LARGE, FORCE]}, ["amount", "mode"]),
        ({"oneOf": [LARGE, FORCE]}, ["amount"]),
        ({"$ref": "#/$defs/x", "$defs": {"x": DELETE}}, ["mode"]),
        ({"not": {"properties": {"amount": {"maximum": 99}}}}, ["amount"]),
        ({"not": {"not": DELETE}}, ["mode"]),
        ({"if": FORCE, "then": LARGE, "else": False}, ["amount"]),
        ({"if": {"required": ["mode"]}, "then": True, "else": False}, ["mode"]),
        ({"minProperties": 1}, ["amount", "mode"]),
        ({"minProperties": 3}, ["amount", "mode"]),
        ({"required": ["amount"]}, ["amount"]),
        ({"dependentSchemas": {"force": LARGE}, "required": ["force"]}, ["amount"]),
        ({"anyOf": [{"required": ["mode"], "properties": {"mode": {"pattern": "^d"}}}]}, ["mode"]),
    ],
)  # fmt: skip
def test_condition_reports_skipped_defaults(
    condition: Any, names: list[str], tmp_path: Path
) -> None:
    errors = [line for line in find(tmp_path, condition) if "calls that omit" in line]
    assert sorted(line.split("`")[1] for line in errors) == names


REFERENCES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "mode": {"$ref": "#/$defs/mode"},
        "all": {"allOf": [{"$ref": "#/$defs/flag"}]},
        "options": {
            "type": "object",
            "properties": {
                "hard": {"type": "boolean", "default": True},
                "more": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}},
            },
        },
        "id": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]{4}$"},
        "when": {"type": "string", "format": "date-time"},
    },
    "required": ["id", "when"],
    "$defs": {
        "mode": {"enum": ["read", "delete"], "default": "delete"},
        "flag": {"type": "boolean", "default": True},
        "n": {"type": "integer", "default": 500},
    },
}


def member(name: str, schema: Any) -> Any:
    """Return a condition on a member that must be present."""
    return {"properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        (DELETE, ["mode"]),
        (member("all", {"const": True}), ["all"]),
        (member("options", member("hard", {"const": True})), ["options.hard"]),
        (member("options", {"required": ["hard"]}), ["options.hard"]),
        (member("options", member("more", member("n", {"minimum": 9}))), ["options.more.n"]),
        ({"anyOf": [DELETE, member("options", {"required": ["hard"]})]}, ["mode", "options.hard"]),
        (member("options", {"not": {"properties": {"hard": {"const": True}}}}), []),
        (member("mode", {"const": "read"}), []),
    ],
)  # fmt: skip
def test_condition_reports_skipped_defaults_of_references_and_objects(
    condition: Any, names: list[str], tmp_path: Path
) -> None:
    """Required parameters without a sample value do not matter to other parameters."""
    found = find(tmp_path, condition, REFERENCES)
    assert sorted(line.split("`")[1] for line in found) == names


MANY = {
    **PARAMETERS,
    "properties": {
        **PARAMETERS["properties"],
        **{f"id{n}": {"type": "string", "pattern": "^[A-Z]{9}$"} for n in range(20)},
    },
    "required": ["id1", "id2"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("condition", "is_reported"),
    [
        (member("mode", {"const": "Delete"}), True),
        (member("force", {"enum": [1, "true"]}), True),
        ({"allOf": [FORCE, {"not": FORCE}]}, True),
        ({"anyOf": [member("mode", {"const": ""}), {"not": {}}]}, True),
        (FORCE, False),
        ({"minProperties": 30}, False),
        ({"const": {"id1": "ABCDEFGHI", "id2": "ABCDEFGHI"}}, False),
        (member("id1", {"const": "ABCDEFGHI"}), False),
    ],
)
def test_unsatisfiable_condition_is_found_beside_other_parameters(
    condition: Any, is_reported: bool, tmp_path: Path
) -> None:
    found = find(tmp_path, condition, MANY)
    assert [line for line in found if "no valid call" in line] == (
        ["WARNING: no valid call satisfies `confirm.when`, so the user is never asked"]
        if is_reported
        else []
    )


@pytest.mark.parametrize(
    "condition",
    [
        {"properties": {"mode": {"const": "delete"}}},
        {"not": {"properties": {"mode": {"const": "read"}}, "required": ["mode"]}},
        {"anyOf": [{"properties": {"amount": {"minimum": 100}}}]},
        FORCE,
        {"maxProperties": 1},
        {"properties": {"options": {"properties": {"all": {"const": True}}}}},
        {"properties": {"mode": {"const": "read"}}, "required": ["mode"]},
        {"properties": {"amount": {"minimum": 501}}, "required": ["amount"]},
    ],
)
def test_condition_without_skipped_defaults_is_clean(
    condition: Any, tmp_path: Path
) -> None:
    assert find(tmp_path, condition) == []


@pytest.mark.parametrize(
    "condition",
    [
        {"properties": {"amuont": {}}, "required": ["amuont"]},
        {"required": ["amuont"]},
        {"not": {"properties": {"amuont": {"maximum": 9}}}},
        {"not": {"required": ["amuont"]}},
        {"anyOf": [{"properties": {"amuont": {"minimum": 9}}}]},
        {"if": {"required": ["amuont"]}, "then": True},
        {"dependentRequired": {"force": ["amuont"]}},
        {"$ref": "#/$defs/x", "$defs": {"x": {"required": ["amuont"]}}},
    ],
)
def test_condition_reports_unknown_names(condition: Any, tmp_path: Path) -> None:
    message = "ERROR: `confirm.when` refers to `amuont`, which is not a parameter"
    assert message in find(tmp_path, condition)


@pytest.mark.parametrize(
    "condition",
    [
        {"properties": {"mode": {"const": "delte"}}, "required": ["mode"]},
        {"properties": {"force": {"const": "true"}}, "required": ["force"]},
        {"properties": {"amount": {"maximum": -1}}, "required": ["amount"]},
        {"minProperties": 5},
        {"allOf": [FORCE, {"not": FORCE}]},
        {"not": {}},
        {"anyOf": [{"properties": {"mode": {"enum": ["x", "y"]}}, "required": ["mode"]}]},
        {"properties": {"options": {"properties": {"all": {"const": 1}}, "required": ["all"]}},
         "required": ["options"]},
    ],
)  # fmt: skip
def test_condition_that_no_call_satisfies_is_warned_of(
    condition: Any, tmp_path: Path
) -> None:
    message = (
        "WARNING: no valid call satisfies `confirm.when`, so the user is never asked"
    )
    assert find(tmp_path, condition) == [message]


@pytest.mark.parametrize(
    "condition",
    [
        {"properties": {"path": {"pattern": "^/etc/.+\\.conf$"}}, "required": ["path"]},
        {"properties": {"path": {"minLength": 30}}, "required": ["path"]},
        {"properties": {"ids": {"minItems": 12}}, "required": ["ids"]},
        {"properties": {"ids": {"items": {"minimum": 7}, "minItems": 1}}, "required": ["ids"]},
        {"properties": {"deep": {"properties": {"a": {"properties": {"b": {"const": 9}},
         "required": ["b"]}}, "required": ["a"]}}, "required": ["deep"]},
        {"properties": {"n": {"exclusiveMinimum": 10, "exclusiveMaximum": 12}}, "required": ["n"]},
        {"allOf": [{"properties": {c: {"const": c}}, "required": [c]} for c in "pqrstu"]},
        {"propertyNames": {"enum": ["n"]}, "minProperties": 1},
    ],
)  # fmt: skip
def test_condition_that_a_call_satisfies_is_clean(
    condition: Any, tmp_path: Path
) -> None:
    integer = {"type": "integer"}
    parameters = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "ids": {"type": "array", "items": integer},
            "deep": {"type": "object"},
            "n": integer,
            **{letter: {"type": "string"} for letter in "pqrstu"},
        },
    }
    assert find(tmp_path, condition, parameters) == []

"""Rule `spec/confirm-condition`: evaluation of conditions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.analysis.condition_calls import evaluate_condition

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


def check_condition(
    tmp_path: Path, condition: Any, parameters: Any = PARAMETERS
) -> list[str]:
    """Return severity and message of the rule's findings."""
    write_example(
        f"parameters: {json.dumps(parameters)}\n"
        f"confirm: {{message: Sure?, when: {json.dumps(condition)}}}\n",
        tmp_path,
    )
    return [
        f"{finding.severity.name}: {finding.message}"
        for finding in list_findings(tmp_path)
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
def test_confirm_condition_that_ignores_parameter_defaults_is_reported(
    condition: Any, names: list[str], tmp_path: Path
) -> None:
    errors = [
        line
        for line in check_condition(tmp_path, condition)
        if "calls that omit" in line
    ]
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
        "rows": {
            "type": "array",
            "items": {"properties": {"wipe": {"type": "boolean", "default": True}}},
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


def build_member_condition(name: str, schema: Any) -> Any:
    """Return a condition that a member is present and matches a schema."""
    return {"properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        (DELETE, ["mode"]),
        (build_member_condition("all", {"const": True}), ["all"]),
        (build_member_condition("options", build_member_condition("hard", {"const": True})), ["options.hard"]),
        (build_member_condition("options", {"required": ["hard"]}), ["options.hard"]),
        (build_member_condition("options", build_member_condition("more", build_member_condition("n", {"minimum": 9}))), ["options.more.n"]),
        ({"anyOf": [DELETE, build_member_condition("options", {"required": ["hard"]})]}, ["mode", "options.hard"]),
        (build_member_condition("rows", {"contains": build_member_condition("wipe", {"const": True})}), ["rows[].wipe"]),
        (build_member_condition("rows", {"minItems": 1, "items": {"required": ["wipe"]}}), ["rows[].wipe"]),
        (build_member_condition("rows", {"contains": {"properties": {"wipe": {"const": True}}}}), []),
        (build_member_condition("options", {"not": {"properties": {"hard": {"const": True}}}}), []),
        (build_member_condition("mode", {"not": {"const": "delete"}}), []),
    ],
)  # fmt: skip
def test_confirm_condition_that_ignores_defaults_in_refs_and_objects_is_reported(
    condition: Any, names: list[str], tmp_path: Path
) -> None:
    """Required parameters without a sample value do not affect other parameters."""
    findings = check_condition(tmp_path, condition, REFERENCES)
    assert sorted(line.split("`")[1] for line in findings) == names


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ({"$ref": "#"}, "cannot be evaluated"),
        ({"$ref": "https://shop.example/a"}, "cannot be evaluated"),
        (build_member_condition("mode", {"pattern": "("}), "cannot be evaluated"),
        (
            build_member_condition("mode", {"pattern": "(?<=a)b"}),
            "has a pattern that needs backtracking",
        ),
    ],
)
def test_confirm_condition_that_the_runtime_cannot_evaluate_is_an_error(
    condition: Any, problem: str, tmp_path: Path
) -> None:
    error = f"ERROR: `confirm.when` {problem}, so the user is asked before each call"
    assert check_condition(tmp_path, condition) == [error]


MODE = {"mode": {"enum": ["read", "delete"], "default": "delete"}}
COMBINED: dict[str, dict[str, Any]] = {
    "allOf": {"allOf": [{"properties": MODE}]},
    "$ref": {"$ref": "#/$defs/p", "$defs": {"p": {"properties": MODE}}},
    "anyOf": {"anyOf": [{"properties": MODE}, {"properties": {"id": {"type": "string"}}}]},
    "oneOf": {"oneOf": [{"properties": MODE}, {"required": ["id"]}]},
    "then": {
        "properties": {**MODE, "id": {"const": "x"}},
        "if": {"required": ["id"]},
        "then": {"required": ["mode"]},
    },
}  # fmt: skip


@pytest.mark.parametrize("keywords", COMBINED.values(), ids=COMBINED)
def test_confirm_condition_that_ignores_a_combined_schema_default_is_reported(
    keywords: dict[str, Any], tmp_path: Path
) -> None:
    [finding] = check_condition(tmp_path, DELETE, {"type": "object", **keywords})
    assert finding.startswith("ERROR: calls that omit `mode` skip the confirmation")


MANY_PARAMETERS = {
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
        (build_member_condition("mode", {"const": "Delete"}), True),
        (build_member_condition("force", {"enum": [1, "true"]}), True),
        ({"allOf": [FORCE, {"not": FORCE}]}, True),
        ({"anyOf": [build_member_condition("mode", {"const": ""}), {"not": {}}]}, True),
        (FORCE, False),
        ({"minProperties": 30}, False),
        ({"const": {"id1": "ABCDEFGHI", "id2": "ABCDEFGHI"}}, False),
        (build_member_condition("id1", {"const": "ABCDEFGHI"}), False),
    ],
)
def test_unsatisfiable_confirm_condition_with_20_parameters_is_reported(
    condition: Any, is_reported: bool, tmp_path: Path
) -> None:
    findings = check_condition(tmp_path, condition, MANY_PARAMETERS)
    assert [line for line in findings if "no valid call" in line] == (
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
def test_confirm_condition_that_respects_parameter_defaults_is_accepted(
    condition: Any, tmp_path: Path
) -> None:
    assert check_condition(tmp_path, condition) == []


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
def test_unknown_confirm_parameter_is_an_error(condition: Any, tmp_path: Path) -> None:
    message = "ERROR: `confirm.when` refers to `amuont`, which is not a parameter"
    assert message in check_condition(tmp_path, condition)


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
def test_unsatisfiable_condition_is_a_warning(condition: Any, tmp_path: Path) -> None:
    message = (
        "WARNING: no valid call satisfies `confirm.when`, so the user is never asked"
    )
    assert check_condition(tmp_path, condition) == [message]


@pytest.mark.parametrize(
    "condition",
    [
        {"properties": {"path": {"pattern": "^/etc/.+\\.conf$"}}, "required": ["path"]},
        {"properties": {"path": {"minLength": 30}}, "required": ["path"]},
        {"properties": {"path": {"not": {"anyOf": [{"maxLength": 29}, {"minLength": 31}]}}}, "required": ["path"]},
        {"properties": {"ids": {"minItems": 12}}, "required": ["ids"]},
        {"properties": {"ids": {"items": {"minimum": 7}, "minItems": 1}}, "required": ["ids"]},
        {"properties": {"deep": {"properties": {"a": {"properties": {"b": {"const": 9}},
         "required": ["b"]}, "c": {"const": 1}}, "required": ["a", "c"]}}, "required": ["deep"]},
        {"properties": {"n": {"exclusiveMinimum": 10, "exclusiveMaximum": 12}}, "required": ["n"]},
        {"allOf": [{"properties": {c: {"const": c}}, "required": [c]} for c in "pqrstu"]},
        {"propertyNames": {"enum": ["n"]}, "minProperties": 1},
    ],
)  # fmt: skip
def test_satisfiable_condition_is_accepted(condition: Any, tmp_path: Path) -> None:
    integer = {"type": "integer"}
    parameters = {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "ids": {"type": "array", "items": integer},
            "deep": {"type": "object"},
            "n": integer,
            **{name: {"type": "string"} for name in "pqrstu"},
        },
    }
    assert check_condition(tmp_path, condition, parameters) == []


def build_names(count: int) -> list[str]:
    return [f"n{number:04}" for number in range(count)]


def build_properties(count: int, schema: Any) -> dict[str, Any]:
    return {"properties": dict.fromkeys(build_names(count), schema), "type": "object"}


def build_nested(levels: int, schema: Any) -> Any:
    for _ in range(levels):
        schema = {"type": "object", **build_member_condition("a", schema)}
    return schema


# Functions of a size, which return the schema of the parameter `a`, and its condition.
SAMPLE_LIMITS: dict[str, tuple[int, Callable[[int], tuple[Any, Any]]]] = {
    "characters": (200, lambda n: ({"type": "string"}, {"maxLength": n, "const": 1})),
    "array items": (200, lambda n: ({"type": "array", "maxItems": 9}, {"minItems": n})),
    "values": (1_999, lambda n: ({"enum": build_names(n)}, {"const": 1})),
    "item values": (
        6,
        lambda n: (
            {"type": "array", "items": {"type": "string", "enum": build_names(n)}},
            {"items": {"const": 1}, "minItems": 1},
        ),
    ),
    "members": (
        12,
        lambda n: (
            build_properties(n, {"type": "boolean"}),
            build_member_condition("n0000", {"const": 2}),
        ),
    ),
    "levels": (
        3,
        lambda n: (
            build_nested(n, {"type": "string"}),
            build_nested(n, {"const": 1}),
        ),
    ),
    "subschemas": (
        399,
        lambda n: ({"type": "string"}, {"anyOf": [{"const": k} for k in range(n)]}),
    ),
}


@pytest.mark.parametrize(
    ("limit", "build_schemas"), SAMPLE_LIMITS.values(), ids=SAMPLE_LIMITS
)
def test_condition_on_a_parameter_is_decided_up_to_the_sample_limit(
    limit: int, build_schemas: Callable[[int], tuple[Any, Any]]
) -> None:
    """Above the limit, a call that satisfies the condition may exist."""
    for size, is_decided in ((limit, True), (limit + 1, False)):
        schema, condition = build_schemas(size)
        result = evaluate_condition(
            {"type": "object", "properties": {"a": schema}},
            build_member_condition("a", condition),
        )
        assert result.is_unsatisfiable is is_decided


@pytest.mark.parametrize(
    ("sizes", "is_decided"),
    [
        # The product is the number of calls, of which 2000 are validated.
        ((5, 5, 5, 4, 4), True),
        ((7, 7, 7, 6), False),
        ((8, 2), True),
        ((9, 2), False),
        ((1,) * 12, True),
        ((1,) * 13, False),
    ],
)
def test_condition_on_several_parameters_is_decided_up_to_the_sample_limits(
    sizes: tuple[int, ...], is_decided: bool
) -> None:
    """At most 8 values of 12 parameters are combined, in 2000 calls."""
    names = build_names(len(sizes))
    schemas = [{"enum": build_names(size)} for size in sizes]
    properties = dict(zip(names, schemas, strict=True))
    parameters = {"type": "object", "properties": properties, "required": names}
    result = evaluate_condition(parameters, {"required": names, "not": {}})
    assert result.is_unsatisfiable is is_decided


MODES = build_names(9)


@pytest.mark.parametrize(
    ("schema", "condition"),
    [
        ({"enum": MODES}, {"not": {"enum": MODES[:8]}}),
        (
            {"type": "array", "items": {"enum": MODES}},
            {"items": {"not": {"enum": MODES[:8]}}, "minItems": 1},
        ),
        (
            build_properties(13, {"type": "boolean"}),
            build_member_condition("n0012", {"const": True}),
        ),
        (
            {"type": "string"},
            {"anyOf": [{"const": "x"}, *({"const": number} for number in range(400))]},
        ),
        ({"type": "integer"}, {"exclusiveMinimum": 10}),
        ({"type": "integer"}, {"not": {"const": 1}}),
        ({"type": "number"}, {"not": {"type": "integer"}}),
        ({"type": "boolean"}, {"not": {"const": False}}),
        ({"type": "integer"}, {"exclusiveMaximum": -10}),
        ({"type": "string"}, {"not": {"maxLength": 9}}),
    ],
)
def test_condition_that_only_a_rare_value_satisfies_is_not_unsatisfiable(
    schema: Any, condition: Any
) -> None:
    parameters = {"type": "object", "properties": {"a": schema}}
    condition = build_member_condition("a", condition)
    for call_condition in (
        condition,
        {"$ref": "#/$defs/call", "$defs": {"call": condition}},
    ):
        assert not evaluate_condition(parameters, call_condition).is_unsatisfiable


def test_condition_samples_its_parameters_with_required_and_optional_ones() -> None:
    """Condition on the last parameter; at least 11 of 13 parameters are sent."""
    parameters = build_properties(13, {"enum": [1, 2], "default": 2})
    size = {"required": ["n0000"], "minProperties": 11}
    condition = build_member_condition("n0012", {"const": 2})
    result = evaluate_condition({**parameters, **size}, condition)
    assert result.skipped_defaults == ("n0012",)

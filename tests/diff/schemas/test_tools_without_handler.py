"""Grades for tools without a handler of the project: only the schema can reject a call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.diff.schemas.comparison import TOOLSET, compare_schemas
from toolcast.diff.change import Grade
from toolcast.model.model import Toolset

IMPORTED = replace(TOOLSET, handlers=None)
PROXIED = replace(TOOLSET, proxy="upstream")
OPEN = {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}
LESS = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize("required", [[], ["b"]])
@pytest.mark.parametrize("toolset", [IMPORTED, PROXIED])
def test_diff_grades_a_removed_property_as_risky_if_an_open_schema_accepts_it(
    toolset: Toolset, required: list[str]
) -> None:
    """This applies to tools without a handler: only the schema can reject a call."""
    before = {**OPEN, "required": required}
    (external,) = compare_schemas(before, LESS, "parameters", toolset)
    (own,) = compare_schemas(before, LESS, "parameters")
    assert external.rule is own.rule
    assert external.grades.call is Grade.RISKY and external.reason
    assert own.grades.call is Grade.BREAKING


@pytest.mark.parametrize("before", [OPEN, {**OPEN, **CLOSED}])
def test_diff_grades_a_removed_property_as_breaking_if_the_schema_rejects_it(
    before: Any,
) -> None:
    changes = compare_schemas(before, {**LESS, **CLOSED}, "parameters", IMPORTED)
    removed = next(c for c in changes if c.rule.id == "parameter/property-removed")
    assert removed.grades.call is Grade.BREAKING
    assert "b" in removed.witness


def test_diff_grades_a_new_optional_parameter_as_safe() -> None:
    (change,) = compare_schemas(LESS, OPEN, "parameters", IMPORTED)
    assert change.grades.call is Grade.SAFE


def test_diff_grades_a_renamed_parameter_as_risky_if_both_names_are_accepted() -> None:
    after = {"type": "object", "properties": {"c": {"type": "string"}}}
    (change,) = compare_schemas(LESS, after, "parameters", IMPORTED)
    assert change.rule.id == "parameter/property-renamed"
    assert change.grades.call is Grade.RISKY


@pytest.mark.parametrize("toolset", [TOOLSET, IMPORTED])
@pytest.mark.parametrize("required", [[], ["b"]])
def test_diff_grades_a_new_property_in_a_closed_result_schema_as_risky(
    toolset: Toolset, required: list[str]
) -> None:
    after = {**OPEN, **CLOSED, "required": required}
    (change,) = compare_schemas({**LESS, **CLOSED}, after, "returns", toolset)
    assert change.grades.call is Grade.RISKY and change.reason


def test_diff_grades_a_new_property_whose_type_differs_from_additional_ones_as_breaking() -> (
    None
):
    before = {**LESS, "additionalProperties": {"type": "integer"}}
    properties = {**LESS["properties"], "b": {"type": "string"}}
    changes = compare_schemas(before, {**before, "properties": properties}, "returns")
    assert max(c.grades.call for c in changes) is Grade.BREAKING


def test_diff_grades_a_new_parameter_as_safe_for_code_without_handler() -> None:
    (own,) = compare_schemas(LESS, OPEN, "parameters")
    (external,) = compare_schemas(LESS, OPEN, "parameters", IMPORTED)
    (typed,) = compare_schemas(
        LESS, OPEN, "parameters", IMPORTED, arguments_type="types:Arguments"
    )
    assert own.grades.code is typed.grades.code is Grade.RISKY
    assert external.grades.code is Grade.SAFE


@pytest.mark.parametrize(("old", "new"), [({}, "uri"), ({"format": "date"}, "uri")])
def test_diff_grades_a_changed_format_that_is_not_validated_as_risky(
    old: Any, new: str
) -> None:
    without_validation = replace(TOOLSET, formats="annotation")
    before, after = (
        {"type": "object", "properties": {"a": {"type": "string", **keywords}}}
        for keywords in (old, {"format": new})
    )
    for toolset in (IMPORTED, without_validation):
        (change,) = compare_schemas(before, after, "parameters", toolset)
        assert change.grades.call is Grade.RISKY and change.reason
    (change,) = compare_schemas(before, after, "parameters")
    assert change.grades.call is Grade.BREAKING

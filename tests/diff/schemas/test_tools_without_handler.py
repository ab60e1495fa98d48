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
def test_property_removed_from_an_open_schema_is_risky(
    toolset: Toolset, required: list[str]
) -> None:
    before = {**OPEN, "required": required}
    (external,) = compare_schemas(before, LESS, "parameters", toolset)
    (own,) = compare_schemas(before, LESS, "parameters")
    assert external.rule is own.rule
    assert external.grades.call is Grade.RISKY and external.reason
    assert own.grades.call is Grade.BREAKING


@pytest.mark.parametrize("before", [OPEN, {**OPEN, **CLOSED}])
def test_property_that_a_closed_schema_removes_is_breaking(before: Any) -> None:
    changes = compare_schemas(before, {**LESS, **CLOSED}, "parameters", IMPORTED)
    removed = next(c for c in changes if c.rule.id == "parameter/property-removed")
    assert removed.grades.call is Grade.BREAKING
    assert "b" in removed.witness


def test_diff_grades_a_renamed_parameter_as_risky_if_both_names_are_accepted() -> None:
    after = {"type": "object", "properties": {"c": {"type": "string"}}}
    (change,) = compare_schemas(LESS, after, "parameters", IMPORTED)
    assert change.rule.id == "parameter/property-renamed"
    assert change.grades.call is Grade.RISKY


@pytest.mark.parametrize("toolset", [TOOLSET, IMPORTED])
@pytest.mark.parametrize("required", [[], ["b"]])
def test_new_closed_result_property_is_risky(
    toolset: Toolset, required: list[str]
) -> None:
    after = {**OPEN, **CLOSED, "required": required}
    (change,) = compare_schemas({**LESS, **CLOSED}, after, "returns", toolset)
    assert change.grades.call is Grade.RISKY and change.reason


def test_new_result_property_of_another_type_than_additional_ones_is_breaking() -> None:
    before = {**LESS, "additionalProperties": {"type": "integer"}}
    properties = {**LESS["properties"], "b": {"type": "string"}}
    changes = compare_schemas(before, {**before, "properties": properties}, "returns")
    assert max(c.grades.call for c in changes) is Grade.BREAKING


def test_new_optional_parameter_is_risky_only_for_code_with_types() -> None:
    """Code has types with a handler or `arguments_type`, also for external tools."""
    (own,) = compare_schemas(LESS, OPEN, "parameters")
    (external,) = compare_schemas(LESS, OPEN, "parameters", IMPORTED)
    types = {"arguments_type": "types:Arguments"}
    (typed,) = compare_schemas(LESS, OPEN, "parameters", IMPORTED, **types)
    assert external.grades.call is Grade.SAFE
    assert own.grades.code is typed.grades.code is Grade.RISKY
    assert external.grades.code is Grade.SAFE


@pytest.mark.parametrize(("old", "new"), [({}, "uri"), ({"format": "date"}, "uri")])
def test_changed_format_that_is_not_validated_is_risky(old: Any, new: str) -> None:
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

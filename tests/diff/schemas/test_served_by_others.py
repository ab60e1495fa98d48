"""Tools that no handler of the project answers: what refuses a call there is the schema alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.diff.schemas.comparing import TOOLSET, compared
from toolcast.diff.change import Grade
from toolcast.model.model import Toolset

IMPORTED = replace(TOOLSET, handlers=None)
PROXIED = replace(TOOLSET, proxy="upstream")
OPEN = {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}
LESS = {"type": "object", "properties": {"a": {"type": "string"}}}
CLOSED = {"additionalProperties": False}


@pytest.mark.parametrize("needed", [[], ["b"]])
@pytest.mark.parametrize("toolset", [IMPORTED, PROXIED])
def test_a_name_that_is_told_no_more_is_risky_where_the_schema_lets_it_in(
    toolset: Toolset, needed: list[str]
) -> None:
    before = {**OPEN, "required": needed}

    (theirs,) = compared(before, LESS, "parameters", toolset)
    (ours,) = compared(before, LESS, "parameters")

    assert theirs.rule is ours.rule
    assert theirs.grades.call is Grade.RISKY and theirs.reason
    assert ours.grades.call is Grade.BREAKING


@pytest.mark.parametrize("before", [OPEN, {**OPEN, **CLOSED}])
def test_a_name_that_the_schema_refuses_is_breaking(before: Any) -> None:
    changes = compared(before, {**LESS, **CLOSED}, "parameters", IMPORTED)

    gone = next(c for c in changes if c.rule.id == "parameter/property-removed")
    assert gone.grades.call is Grade.BREAKING
    assert "b" in gone.witness


def test_a_new_parameter_that_may_be_left_out_is_safe() -> None:
    (change,) = compared(LESS, OPEN, "parameters", IMPORTED)

    assert change.grades.call is Grade.SAFE


def test_another_name_for_a_parameter_is_risky_where_both_are_let_in() -> None:
    after = {"type": "object", "properties": {"c": {"type": "string"}}}

    (change,) = compared(LESS, after, "parameters", IMPORTED)

    assert change.rule.id == "parameter/property-renamed"
    assert change.grades.call is Grade.RISKY


@pytest.mark.parametrize("toolset", [TOOLSET, IMPORTED])
@pytest.mark.parametrize("needed", [[], ["b"]])
def test_a_new_field_of_a_closed_result_is_risky(
    toolset: Toolset, needed: list[str]
) -> None:
    after = {**OPEN, **CLOSED, "required": needed}

    (change,) = compared({**LESS, **CLOSED}, after, "returns", toolset)

    assert change.grades.call is Grade.RISKY and change.reason


def test_a_field_of_another_type_than_other_names_had_breaks_readers() -> None:
    before = {**LESS, "additionalProperties": {"type": "integer"}}
    more = {**LESS["properties"], "b": {"type": "string"}}

    changes = compared(before, {**before, "properties": more}, "returns")

    assert max(c.grades.call for c in changes) is Grade.BREAKING


def test_without_a_handler_no_python_is_concerned() -> None:
    (ours,) = compared(LESS, OPEN, "parameters")
    (theirs,) = compared(LESS, OPEN, "parameters", IMPORTED)
    (typed,) = compared(
        LESS, OPEN, "parameters", IMPORTED, arguments_type="types:Arguments"
    )

    assert ours.grades.code is typed.grades.code is Grade.RISKY
    assert theirs.grades.code is Grade.SAFE


@pytest.mark.parametrize(("old", "new"), [({}, "uri"), ({"format": "date"}, "uri")])
def test_a_format_that_is_not_checked_here_is_risky(old: Any, new: str) -> None:
    told = replace(TOOLSET, formats="annotation")
    before, after = (
        {"type": "object", "properties": {"a": {"type": "string", **words}}}
        for words in (old, {"format": new})
    )

    for toolset in (IMPORTED, told):
        (change,) = compared(before, after, "parameters", toolset)
        assert change.grades.call is Grade.RISKY and change.reason
    (change,) = compared(before, after, "parameters")
    assert change.grades.call is Grade.BREAKING

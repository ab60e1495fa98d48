"""Rules, grades and messages of single schema changes.

A case in `cases/` has an old and a new schema: of the property `x`, or of the whole field if
`is_root` is set. `forward` lists the expected changes for `parameters` and for `returns`: the
name of the rule, the grades for call, prompt, code and access, and the message. `back` lists
the changes in the opposite direction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.diff.schemas.comparison import compare_schemas, format_change
from toolcast.diff.change import ABSENT, Grade
from toolcast.diff.schemas.schema_grades import UNPROVED
from toolcast.diff.schemas.schema_rules import RULES

CASES = [
    pytest.param(case, id=f"{file.stem}: {case['name']}")
    for file in sorted(Path(__file__).parent.glob("cases/*.yaml"))
    for case in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
]
IDS = {rule.id: rule for rule in RULES.values()}


def build_schemas(case: dict[str, Any]) -> list[Any]:
    """Return the old and the new schema of a case."""
    schemas = [case["before"], case["after"]]
    if "is_root" in case:
        return schemas
    return [{"type": "object", "properties": {"x": schema}} for schema in schemas]


@pytest.mark.parametrize("case", CASES)
def test_diff_reports_each_schema_change_with_expected_rule_grades_and_message(
    case: dict[str, Any],
) -> None:
    """The opposite change has the opposite rule; path, fingerprint and reason are correct."""
    before, after = build_schemas(case)
    for field, expected in case["forward"].items():
        forward, back = compare_schemas(before, after, field), compare_schemas(
            after, before, field
        )
        assert list(map(format_change, forward)) == expected
        if field in case["back"]:
            assert list(map(format_change, back)) == case["back"][field]
        assert sorted(c.rule.opposite for c in forward) == sorted(
            c.rule.id for c in back
        )
        assert len({change.fingerprint for change in forward}) == len(forward)
        for change in forward:
            assert change.path[0] == field
            assert change.message == change.message.strip()
            assert change.message.count("`") % 2 == 0
            assert change.is_in_old_version == (change.after is ABSENT)
            is_undecided = change.reason in UNPROVED.values()
            is_usual = change.grades == change.rule.grades
            assert is_usual == (not change.reason) or is_undecided
            assert change.grades.access is Grade.SAFE
            schema = before if change.is_in_old_version else after
            assert_path_exists(schema, change.path[1:])


@pytest.mark.parametrize(
    ("before", "minimum", "reason"),
    [
        ({"enum": [1, 2]}, 1, "all arguments that were valid are"),
        ({"type": "integer"}, 1 - 2**53, "some JSON parsers do not read integers"),
    ],
)
def test_diff_states_why_a_new_minimum_is_safe(
    before: dict[str, Any], minimum: int, reason: str
) -> None:
    case = {"before": before, "after": {**before, "minimum": minimum}}
    (change,) = compare_schemas(*build_schemas(case), "parameters")
    assert change.reason.startswith(reason)


def assert_path_exists(schema: Any, path: tuple[str | int, ...]) -> None:
    """Check that a path exists, except its last step, which can be in the other schema."""
    for step in path[:-1]:
        schema = schema[step]


def test_schema_change_cases_cover_all_toolcast_diff_rules() -> None:
    """The other rules are for schemas that cannot be compared, or that were added or removed."""
    covered = {
        RULES[field, line.partition(",")[0]].id
        for case in CASES
        for direction in ("forward", "back")
        for field, lines in case.values[0][direction].items()
        for line in lines
    }
    # A tool always has `parameters`, so this schema is never added or removed.
    assert IDS.keys() - covered == {
        "parameter/not-compared",
        "parameter/schema-added",
        "parameter/schema-removed",
        "result/not-compared",
    }

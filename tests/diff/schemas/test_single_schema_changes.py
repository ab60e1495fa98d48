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
def test_diff_reports_each_schema_change_as_expected(case: dict[str, Any]) -> None:
    """Rule, grades, message, path, fingerprint and reason are correct, also in reverse."""
    before, after = build_schemas(case)
    for field, expected in case["forward"].items():
        forward = compare_schemas(before, after, field)
        back = compare_schemas(after, before, field)
        assert list(map(format_change, forward)) == expected
        if field in case["back"]:
            assert list(map(format_change, back)) == case["back"][field]
        opposites = sorted(change.rule.opposite for change in forward)
        assert opposites == sorted(change.rule.id for change in back)
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
            # The last step of the path can be in the other schema.
            for step in change.path[1:-1]:
                schema = schema[step]


def test_diff_states_why_a_new_minimum_is_safe() -> None:
    for before, minimum, reason in (
        ({"enum": [1, 2]}, 1, "all arguments that were valid are"),
        ({"type": "integer"}, 1 - 2**53, "some JSON parsers do not read integers"),
    ):
        case = {"before": before, "after": {**before, "minimum": minimum}}
        (change,) = compare_schemas(*build_schemas(case), "parameters")
        assert change.reason.startswith(reason)


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
    others = {"parameter/not-compared", "result/not-compared"}
    others |= {"parameter/schema-added", "parameter/schema-removed"}
    assert IDS.keys() - covered == others

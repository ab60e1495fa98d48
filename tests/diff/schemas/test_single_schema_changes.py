"""Each single change of a schema has the rules, the grades and the words of the table.

A case in `cases/` is a schema before and after, of the parameter `x` unless `of` says that it
is of the whole. `forward` is what the change means for `parameters` and for `returns`: the
name of the rule, the grades for call, prompt, code and access, the message; `back` what
the change back means.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.diff.schemas.comparing import compared, told
from toolcast.diff.change import ABSENT, Grade
from toolcast.diff.schemas.schema_rules import RULES

CASES = [
    pytest.param(case, id=f"{file.stem}: {case['name']}")
    for file in sorted(Path(__file__).parent.glob("cases/*.yaml"))
    for case in yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)
]
IDS = {rule.id: rule for rule in RULES.values()}


def schemas_of(case: dict[str, Any]) -> list[Any]:
    """The schemas of the case, before and after."""
    schemas = [case["before"], case["after"]]
    if "of" in case:
        return schemas
    return [{"type": "object", "properties": {"x": schema}} for schema in schemas]


@pytest.mark.parametrize("case", CASES)
def test_a_change_means_what_the_table_says(case: dict[str, Any]) -> None:
    """There and back, which is of the opposite kinds, and it says where it is and why."""
    before, after = schemas_of(case)
    for field, expected in case["forward"].items():
        there, back = compared(before, after, field), compared(after, before, field)
        assert list(map(told, there)) == expected
        if field in case["back"]:
            assert list(map(told, back)) == case["back"][field]
        assert sorted(c.rule.opposite for c in there) == sorted(c.rule.id for c in back)
        assert len({change.fingerprint for change in there}) == len(there)
        for change in there:
            assert change.path[0] == field
            assert change.message == change.message.strip()
            assert change.message.count("`") % 2 == 0
            assert change.is_in_old_version == (change.after is ABSENT)
            assert (change.grades == change.rule.grades) == (not change.reason)
            assert change.grades.access is Grade.SAFE
            side = before if change.is_in_old_version else after
            assert_is_there(side, change.path[1:])


def assert_is_there(schema: Any, path: tuple[str | int, ...]) -> None:
    """The path leads to something, but for its last step: a keyword may be the other's."""
    for step in path[:-1]:
        schema = schema[step]


def test_all_rules_are_in_the_table() -> None:
    """The others say that something cannot be compared or followed."""
    named = {
        RULES[field, line.partition(",")[0]].id
        for case in CASES
        for way in ("forward", "back")
        for field, lines in case.values[0][way].items()
        for line in lines
    }
    # A tool always has parameters: no schema of them comes or goes.
    assert IDS.keys() - named == {
        "parameter/not-compared",
        "parameter/schema-added",
        "parameter/schema-removed",
        "result/not-compared",
    }

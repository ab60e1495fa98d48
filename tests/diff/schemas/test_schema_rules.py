"""The table of rules: each has its opposite, each keyword has rules, both fields have all."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

from toolcast.changes.change import Grade
from toolcast.changes.schemas.field_rules import FIELDS, RULES, hazard
from toolcast.changes.schemas.rule_rows import ROWS
from toolcast.rules.schema.unknown_keyword import KEYWORDS

IDS = {rule.id: rule for rule in RULES.values()}
NAMES = {row.name: row for row in ROWS}
VOCABULARIES = "https://json-schema.org/draft/2020-12/"


def keywords_of(metaschema: Any) -> set[str]:
    """The keywords that a schema of schemas names, in all of its vocabularies."""
    found = set(metaschema.get("properties", {}))
    for part in metaschema.get("allOf", ()):
        found |= keywords_of(SPECIFICATIONS.contents(VOCABULARIES + part["$ref"]))
    return found


def test_a_rule_has_its_opposite() -> None:
    for (field, name), rule in RULES.items():
        row = NAMES[name]
        family = {"parameters": "parameter", "returns": "result"}[field]
        assert rule.id == f"{family}/{name}"
        assert IDS[rule.opposite].opposite == rule.id
        assert set(NAMES[row.opposite].keywords) == set(row.keywords)


def test_both_fields_have_all_rules() -> None:
    assert len(NAMES) == len(ROWS)
    assert set(RULES) == {(field, name) for field in FIELDS for name in NAMES}


def test_an_effect_goes_the_other_way_in_the_opposite() -> None:
    back = {"fewer": "more", "more": "fewer", "either": "either", "none": "none"}
    for row in ROWS:
        other = NAMES[row.opposite].effect
        assert other == back[row.effect] or "either" in (other, row.effect), row


def test_a_rule_of_results_is_the_mirror_of_one_of_parameters() -> None:
    """What lets fewer values through breaks callers, what lets more through breaks readers."""
    for row in ROWS:
        if row.call is None and row.effect in ("fewer", "more"):
            calls = [RULES[field, row.name].grades.call for field in FIELDS]
            assert sorted(calls) == [Grade.SAFE, Grade.BREAKING], row
            hazards = [hazard(field, row) for field in FIELDS]
            assert hazards == [grade is Grade.BREAKING for grade in calls], row


@pytest.mark.parametrize(
    "dialect", [jsonschema.Draft202012Validator, jsonschema.Draft7Validator]
)
def test_every_keyword_of_a_dialect_has_rules(dialect: Any) -> None:
    covered = {word for row in ROWS for word in row.keywords}

    assert keywords_of(dialect.META_SCHEMA) - covered == set()


def test_every_keyword_that_is_known_has_rules() -> None:
    assert KEYWORDS - {word for row in ROWS for word in row.keywords} == set()

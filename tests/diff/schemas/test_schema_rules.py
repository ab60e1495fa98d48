"""Change rules of `toolcast diff` for JSON Schema: opposites, effects and coverage of keywords."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

from toolcast.diff.change import Grade
from toolcast.diff.schemas.schema_rules import EFFECTS, FIELDS, KEYWORDS, RULES
from toolcast.json_schema.dialects import KEYWORDS as KNOWN_KEYWORDS

IDS = {rule.id: rule for rule in RULES.values()}
VOCABULARIES = "https://json-schema.org/draft/2020-12/"


def collect_keywords(metaschema: Any) -> set[str]:
    """Return the keywords that a metaschema defines in all of its vocabularies."""
    keywords = set(metaschema.get("properties", {}))
    for part in metaschema.get("allOf", ()):
        keywords |= collect_keywords(
            SPECIFICATIONS.contents(VOCABULARIES + part["$ref"])
        )
    return keywords


def get_opposite(name: str) -> str:
    """Return the name of the opposite kind of change."""
    return RULES["parameters", name].opposite.partition("/")[2]


def test_diff_schema_change_rules_are_opposite_pairs_with_equal_keywords() -> None:
    for (field, name), rule in RULES.items():
        family = {"parameters": "parameter", "returns": "result"}[field]
        assert rule.id == f"{family}/{name}"
        assert IDS[rule.opposite].opposite == rule.id
        assert set(KEYWORDS[get_opposite(name)]) == set(KEYWORDS[name])


def test_opposite_schema_changes_have_diff_rules_with_opposite_effects() -> None:
    opposite_effects = {
        "fewer": "more",
        "more": "fewer",
        "either": "either",
        "none": "none",
    }
    for name, effect in EFFECTS.items():
        other = EFFECTS[get_opposite(name)]
        assert other == opposite_effects[effect] or "either" in (other, effect), name


def test_diff_result_schema_grades_mirror_parameter_schema_grades() -> None:
    """Fewer valid values break callers; more valid values break the readers of results."""
    # Readers of results can ignore an added property.
    for name, effect in EFFECTS.items():
        if effect in ("fewer", "more") and name != "property-added":
            calls = [RULES[field, name].grades.call for field in FIELDS]
            assert sorted(calls) == [Grade.SAFE, Grade.BREAKING], name
            breaking_field = "parameters" if effect == "fewer" else "returns"
            assert RULES[breaking_field, name].grades.call is Grade.BREAKING, name


@pytest.mark.parametrize(
    "dialect", [jsonschema.Draft202012Validator, jsonschema.Draft7Validator]
)
def test_diff_has_rules_for_all_json_schema_dialect_keywords(dialect: Any) -> None:
    covered = {keyword for keywords in KEYWORDS.values() for keyword in keywords}
    assert collect_keywords(dialect.META_SCHEMA) - covered == set()


def test_diff_has_rules_for_all_json_schema_keywords_that_the_generator_knows() -> None:
    assert KNOWN_KEYWORDS - set().union(*KEYWORDS.values()) == set()

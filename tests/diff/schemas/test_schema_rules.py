"""Change rules of `toolcast diff` for JSON Schema: opposites, effects and coverage of keywords."""

from __future__ import annotations

from typing import Any

import jsonschema
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
        vocabulary = SPECIFICATIONS.contents(VOCABULARIES + part["$ref"])
        keywords |= collect_keywords(vocabulary)
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
    opposite_effects = {"fewer": "more", "more": "fewer", "none": "none"}
    for name, effect in EFFECTS.items():
        other = EFFECTS[get_opposite(name)]
        assert "either" in (other, effect) or other == opposite_effects[effect], name


def test_diff_result_schema_grades_mirror_parameter_schema_grades() -> None:
    """Fewer valid values break callers; more valid values break the readers of results."""
    # Readers of results can ignore an added property.
    for name, effect in EFFECTS.items():
        if effect in ("fewer", "more") and name != "property-added":
            calls = [RULES[field, name].grades.call for field in FIELDS]
            assert sorted(calls) == [Grade.SAFE, Grade.BREAKING], name
            breaking_field = "parameters" if effect == "fewer" else "returns"
            assert RULES[breaking_field, name].grades.call is Grade.BREAKING, name


def test_diff_has_rules_for_all_keywords_of_dialects_and_the_generator() -> None:
    covered = {keyword for keywords in KEYWORDS.values() for keyword in keywords}
    for dialect in (jsonschema.Draft202012Validator, jsonschema.Draft7Validator):
        assert collect_keywords(dialect.META_SCHEMA) - covered == set()
    assert KNOWN_KEYWORDS - covered == set()

"""The table of rules: each has its opposite, each keyword has rules, both fields have all."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from jsonschema_specifications import REGISTRY as SPECIFICATIONS

from toolcast.diff.change import Grade
from toolcast.diff.schemas.schema_rules import (
    EFFECTS,
    FIELDS,
    KEYWORDS,
    RULES,
)
from toolcast.json_schema.dialects import KEYWORDS as KNOWN

IDS = {rule.id: rule for rule in RULES.values()}
VOCABULARIES = "https://json-schema.org/draft/2020-12/"


def keywords_of(metaschema: Any) -> set[str]:
    """The keywords that a schema of schemas names, in all of its vocabularies."""
    found = set(metaschema.get("properties", {}))
    for part in metaschema.get("allOf", ()):
        found |= keywords_of(SPECIFICATIONS.contents(VOCABULARIES + part["$ref"]))
    return found


def opposite(name: str) -> str:
    """The name of the change back."""
    return RULES["parameters", name].opposite.partition("/")[2]


def test_a_rule_has_its_opposite() -> None:
    for (field, name), rule in RULES.items():
        family = {"parameters": "parameter", "returns": "result"}[field]
        assert rule.id == f"{family}/{name}"
        assert IDS[rule.opposite].opposite == rule.id
        assert set(KEYWORDS[opposite(name)]) == set(KEYWORDS[name])


def test_an_effect_goes_the_other_way_in_the_opposite() -> None:
    back = {"fewer": "more", "more": "fewer", "either": "either", "none": "none"}
    for name, effect in EFFECTS.items():
        other = EFFECTS[opposite(name)]
        assert other == back[effect] or "either" in (other, effect), name


def test_a_rule_of_results_is_the_mirror_of_one_of_parameters() -> None:
    """What lets fewer values through breaks callers, what lets more through breaks readers."""
    # Who reads results need not look at one more property.
    for name, effect in EFFECTS.items():
        if effect in ("fewer", "more") and name != "property-added":
            calls = [RULES[field, name].grades.call for field in FIELDS]
            assert sorted(calls) == [Grade.SAFE, Grade.BREAKING], name
            hazard = "parameters" if effect == "fewer" else "returns"
            assert RULES[hazard, name].grades.call is Grade.BREAKING, name


@pytest.mark.parametrize(
    "dialect", [jsonschema.Draft202012Validator, jsonschema.Draft7Validator]
)
def test_every_keyword_of_a_dialect_has_rules(dialect: Any) -> None:
    covered = {word for words in KEYWORDS.values() for word in words}

    assert keywords_of(dialect.META_SCHEMA) - covered == set()


def test_every_keyword_that_is_known_has_rules() -> None:
    assert KNOWN - set().union(*KEYWORDS.values()) == set()

"""Specs of molecule: valid, consistent with the handlers, and with correct examples."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.examples.example_specs import (
    assert_signature_matches,
    load_specs,
    load_tool_specs,
)
from toolcast.spec_language.spec_language import get_schema
from toolcast_runtime import ToolError

SPECS = load_tool_specs("molecule")
TOOLSET = load_specs("molecule")["toolset"]
each_spec = pytest.mark.parametrize("name", SPECS)
EXAMPLES = [
    pytest.param(name, example, id=f"{name}: {example['title']}")
    for name, spec in SPECS.items()
    for example in spec["examples"]
    if "result" in example or "error" in example
]


def build_validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(get_schema(name))


def test_molecule_toolset_sections_have_the_expected_tool_counts() -> None:
    build_validator("toolset").validate(TOOLSET)
    sections = [SPECS[name]["section"] for name in SPECS]
    assert {name: sections.count(name) for name in TOOLSET["sections"]} == {
        "a2a": 16,
        "memory": 9,
        "display": 6,
    }


@each_spec
def test_molecule_spec_is_valid_and_has_existing_permission_and_valid_example_arguments(
    name: str,
) -> None:
    spec = SPECS[name]
    build_validator("tool").validate(spec)
    assert spec["name"] == name
    assert spec.get("permission", "delegate") in TOOLSET["permissions"]
    for key in {"parameters", "returns"} & spec.keys():
        Draft202012Validator.check_schema(spec[key])
    for example in spec["examples"]:
        Draft202012Validator(spec["parameters"]).validate(example["arguments"])


@each_spec
def test_molecule_parameters_have_descriptions_and_refuse_additional_properties(
    name: str,
) -> None:
    open_objects = {"card"}
    for key, schema in SPECS[name]["parameters"]["properties"].items():
        assert schema["description"], key
        for part in (schema, *schema.get("items", {}).get("anyOf", [])):
            if part["type"] == "object" and key not in open_objects:
                assert part["additionalProperties"] is False
    assert SPECS[name]["parameters"]["additionalProperties"] is False


@each_spec
def test_molecule_handler_signature_matches_the_spec_parameters_and_defaults(
    name: str,
) -> None:
    assert_signature_matches(SPECS[name])


def test_molecule_specs_mention_no_previous_tool_name() -> None:
    previous_names = [
        old for spec in SPECS.values() for old in spec.get("renamed_from", [])
    ]
    assert len(previous_names) == 3
    for spec in [*SPECS.values(), TOOLSET]:
        prose = json.dumps({**spec, "renamed_from": []})
        assert not [old for old in previous_names if old in prose]


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_example_in_a_molecule_spec_returns_its_documented_result_or_error(
    call: Callable[..., Any], name: str, example: dict[str, Any]
) -> None:
    if "error" in example:
        with pytest.raises(ToolError) as failure:
            call(name, **example["arguments"])
        assert str(failure.value) == example["error"]
    else:
        assert call(name, **example["arguments"]) == example["result"]

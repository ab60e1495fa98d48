"""Specs of molecule: consistent with the handlers, and with correct examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.example_specs import assert_signature_matches, load_tool_specs
from toolcast_runtime import ToolError

SPECS = load_tool_specs("molecule")
EXAMPLES = [
    pytest.param(name, example, id=f"{name}: {example['title']}")
    for name, spec in SPECS.items()
    for example in spec["examples"]
    if "result" in example or "error" in example
]


@pytest.mark.parametrize("name", SPECS)
def test_molecule_parameters_match_the_handler_and_have_descriptions(name: str) -> None:
    """Objects other than an agent card refuse additional properties."""
    assert_signature_matches(SPECS[name])
    open_objects = {"card"}
    for key, schema in SPECS[name]["parameters"]["properties"].items():
        assert schema["description"], key
        for part in (schema, *schema.get("items", {}).get("anyOf", [])):
            if part["type"] == "object" and key not in open_objects:
                assert part["additionalProperties"] is False
    assert SPECS[name]["parameters"]["additionalProperties"] is False


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

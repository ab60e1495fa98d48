"""Consistency of kirishima's specs and handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import jsonschema
import pytest

from tests.examples.example_specs import (
    SPECS,
    assert_signature_matches,
    load_handler,
    load_specs,
    load_tool_specs,
)
from toolcast.spec_language.spec_language import get_schema
from toolcast_runtime import ToolError

TOOLS = list(load_tool_specs("kirishima"))


@pytest.mark.parametrize("name", [*TOOLS, "toolset"])
def test_kirishima_spec_is_valid_and_its_first_line_names_the_json_schema(
    name: str,
) -> None:
    kind = "toolset" if name == "toolset" else "tool"
    spec = load_specs("kirishima")[name]
    jsonschema.Draft202012Validator(get_schema(kind)).validate(spec)
    text = (SPECS / "kirishima" / f"{name}.yaml").read_text("utf-8")
    schema_line = f"# yaml-language-server: $schema=../schemas/{kind}.schema.json\n"
    assert text.startswith(schema_line)


@pytest.mark.parametrize("name", TOOLS)
def test_kirishima_handler_signature_matches_the_spec_parameters(
    name: str, specs: Mapping[str, Any]
) -> None:
    assert_signature_matches(specs[name])


@pytest.mark.parametrize("name", TOOLS)
def test_kirishima_handler_literals_equal_the_spec_enums(
    name: str, specs: Mapping[str, Any]
) -> None:
    """The `Literal` types of a handler have the values of the spec's enums."""
    hints = get_type_hints(load_handler(specs[name]))
    for parameter, schema in specs[name]["parameters"]["properties"].items():
        if "enum" in schema:
            choices = [hints[parameter], *get_args(hints[parameter])]
            literal = next(
                choice for choice in choices if get_origin(choice) is Literal
            )
            assert list(get_args(literal)) == schema["enum"]


@pytest.mark.parametrize("name", TOOLS)
def test_kirishima_spec_actions_cover_the_action_enum_and_all_parameters(
    name: str, specs: Mapping[str, Any]
) -> None:
    actions = specs[name].get("actions")
    if actions is None:
        assert "action" not in specs[name]["parameters"]["properties"]
        return
    properties = specs[name]["parameters"]["properties"]
    assert list(actions["values"]) == properties[actions["parameter"]]["enum"]
    used = {actions["parameter"]}
    for action in actions["values"].values():
        for key in ("requires", "requires_any", "accepts"):
            used.update(action.get(key, []))
    assert used == set(properties)


@pytest.mark.parametrize("name", TOOLS)
def test_example_arguments_in_kirishima_specs_are_valid_for_their_parameters(
    name: str, specs: Mapping[str, Any]
) -> None:
    validator = jsonschema.Draft202012Validator(specs[name]["parameters"])
    for example in specs[name]["examples"]:
        validator.validate(example["arguments"])


@pytest.mark.parametrize("name", TOOLS)
def test_example_with_an_error_in_a_kirishima_spec_raises_exactly_that_error(
    name: str, specs: Mapping[str, Any], call: Callable[..., Any]
) -> None:
    for example in specs[name]["examples"]:
        if "error" in example:
            with pytest.raises(ToolError) as raised:
                call(name, **example["arguments"])
            assert str(raised.value) == example["error"]


def test_kirishima_tool_clients_match_the_toolset_allow_and_deny(
    specs: Mapping[str, Any],
) -> None:
    for client, access in load_specs("kirishima")["toolset"]["clients"].items():
        for name, spec in specs.items():
            allowed = access["allow"] == "*" or name in access["allow"]
            allowed = allowed and name not in access.get("deny", [])
            assert allowed == (client in spec["clients"]), (client, name)

"""Consistency of kirishima's specs and handlers."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import jsonschema
import pytest
import yaml

from toolcast.spec_language.spec_language import get_schema
from toolcast_runtime import ToolError

ROOT = Path(__file__).parents[3]
SPECS = ROOT / "specs" / "kirishima"
TOOLS = sorted(path.stem for path in SPECS.glob("*.yaml") if path.stem != "toolset")


def load_handler(spec: Mapping[str, Any]) -> Callable[..., Any]:
    module, _, name = spec["handler"].partition(":")
    handler: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return handler


@pytest.mark.parametrize("name", [*TOOLS, "toolset"])
def test_spec_is_valid_and_names_its_schema(name: str) -> None:
    kind = "toolset" if name == "toolset" else "tool"
    text = (SPECS / f"{name}.yaml").read_text("utf-8")
    jsonschema.Draft202012Validator(get_schema(kind)).validate(yaml.safe_load(text))
    assert text.splitlines()[0] == (
        "# yaml-language-server: " f"$schema=../schemas/{kind}.schema.json"
    )


@pytest.mark.parametrize("name", TOOLS)
def test_handler_signature_matches_the_parameters(
    name: str, specs: Mapping[str, Any]
) -> None:
    schema = specs[name]["parameters"]
    parameters = inspect.signature(load_handler(specs[name])).parameters
    assert list(parameters) == list(schema["properties"])
    for parameter in parameters.values():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if parameter.name in schema.get("required", []):
            assert parameter.default is inspect.Parameter.empty
        else:
            property_schema = schema["properties"][parameter.name]
            assert parameter.default == property_schema.get("default")


@pytest.mark.parametrize("name", TOOLS)
def test_handler_literals_equal_the_enums(name: str, specs: Mapping[str, Any]) -> None:
    hints = get_type_hints(load_handler(specs[name]))
    for parameter, schema in specs[name]["parameters"]["properties"].items():
        if "enum" in schema:
            choices = [hints[parameter], *get_args(hints[parameter])]
            literal = next(
                choice for choice in choices if get_origin(choice) is Literal
            )
            assert list(get_args(literal)) == schema["enum"]


@pytest.mark.parametrize("name", TOOLS)
def test_actions_cover_the_enum_and_all_parameters(
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
def test_example_arguments_are_valid(name: str, specs: Mapping[str, Any]) -> None:
    validator = jsonschema.Draft202012Validator(specs[name]["parameters"])
    for example in specs[name]["examples"]:
        validator.validate(example["arguments"])


@pytest.mark.parametrize("name", TOOLS)
def test_example_returns_its_documented_error(
    name: str, specs: Mapping[str, Any], call: Callable[..., Any]
) -> None:
    for example in specs[name]["examples"]:
        if "error" in example:
            with pytest.raises(ToolError) as raised:
                call(name, **example["arguments"])
            assert str(raised.value) == example["error"]


def test_tool_clients_match_the_toolset_access(
    specs: Mapping[str, Any],
) -> None:
    toolset = yaml.safe_load((SPECS / "toolset.yaml").read_text("utf-8"))
    for client, access in toolset["clients"].items():
        for name, spec in specs.items():
            allowed = access["allow"] == "*" or name in access["allow"]
            allowed = allowed and name not in access.get("deny", [])
            assert allowed == (client in spec["clients"]), (client, name)

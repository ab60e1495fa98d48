"""Consistency of kirishima's specs and handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from tests.examples.example_specs import (
    SPECS,
    assert_signature_matches,
    load_handler,
    load_tool_specs,
)
from toolcast_runtime import ToolError

TOOLS = list(load_tool_specs("kirishima"))


@pytest.mark.parametrize("name", [*TOOLS, "toolset"])
def test_kirishima_spec_first_line_names_the_json_schema(name: str) -> None:
    kind = "toolset" if name == "toolset" else "tool"
    text = (SPECS / "kirishima" / f"{name}.yaml").read_text("utf-8")
    schema_line = f"# yaml-language-server: $schema=../schemas/{kind}.schema.json\n"
    assert text.startswith(schema_line)


@pytest.mark.parametrize("name", TOOLS)
def test_kirishima_handler_signature_and_literals_equal_the_specs_parameters(
    name: str, specs: Mapping[str, Any]
) -> None:
    """The `Literal` types of a handler have the values of the spec's enums."""
    assert_signature_matches(specs[name])
    hints = get_type_hints(load_handler(specs[name]))
    for parameter, schema in specs[name]["parameters"]["properties"].items():
        if "enum" in schema:
            choices = [hints[parameter], *get_args(hints[parameter])]
            [literal] = [c for c in choices if get_origin(c) is Literal]
            assert list(get_args(literal)) == schema["enum"]


@pytest.mark.parametrize("name", TOOLS)
def test_example_with_an_error_in_a_kirishima_spec_raises_exactly_that_error(
    name: str, specs: Mapping[str, Any], call: Callable[..., Any]
) -> None:
    for example in specs[name]["examples"]:
        if "error" in example:
            with pytest.raises(ToolError) as raised:
                call(name, **example["arguments"])
            assert str(raised.value) == example["error"]

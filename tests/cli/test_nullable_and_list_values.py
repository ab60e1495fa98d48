"""`null`, and arrays of strings as JSON, in the arguments of a command."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.cli.arguments import Parameter

STRING, NULL = {"type": "string"}, {"type": "null"}
STRINGS = {"type": "array", "items": STRING}


def parse(schema: Any, *texts: str) -> Any:
    parameter = Parameter("value", "value", schema, False, "--value")
    return parameter.parse(list(texts) if parameter.to_click().multiple else texts[0])


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"anyOf": [STRING, NULL]}, "null", None),
        ({"oneOf": [NULL, {"enum": ["a", "b"]}]}, "null", None),
        ({"type": ["object", "null"]}, "null", None),
        ({"anyOf": [STRINGS, NULL]}, "null", None),
        ({"type": ["string", "null"]}, "Null", "Null"),
        ({"type": ["string", "null"]}, "3", "3"),
        ({"type": ["integer", "string"]}, "null", "null"),
    ],
)
def test_cli_argument_null_is_parsed_as_none_if_the_schema_allows_null(
    schema: Any, text: str, value: Any
) -> None:
    assert parse(schema, text) == value


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (['["a", "b"]'], ["a", "b"]),
        (["[]"], []),
        ([' ["a"]'], ["a"]),
        (["[1, 2]"], ["[1, 2]"]),
        (["[draft]"], ["[draft]"]),
        (['["a"'], ['["a"']),
        (["@ada"], ["@ada"]),
        (["-"], ["-"]),
        (['["a"]', "b"], ['["a"]', "b"]),
        (["null"], ["null"]),
    ],
)
def test_cli_parses_a_single_string_array_argument_as_json_if_it_has_only_strings(
    texts: list[str], value: list[str]
) -> None:
    """Otherwise each argument is one item, also `[1, 2]`."""
    assert parse(STRINGS, *texts) == value


@pytest.mark.parametrize("schema", [{"anyOf": [STRING, NULL]}, STRINGS, STRING])
@pytest.mark.parametrize("value", [None, "null", ["null"], ['["a"]'], ["[draft]"], []])
def test_cli_parses_formatted_shell_arguments_to_the_original_value(
    schema: Any, value: Any
) -> None:
    parameter = Parameter("value", "value", schema, False, "--value")
    texts = parameter.format_arguments(value)[1::2]
    assert not texts or parse(schema, *texts) == value


def test_nullable_type_cli_option_placeholder_omits_null() -> None:
    for schema, placeholder in (
        ({"anyOf": [STRING, NULL]}, "TEXT"),
        ({"type": ["integer", "null"]}, "INTEGER"),
        ({"type": ["integer", "string"]}, "JSON"),
    ):
        parameter = Parameter("value", "value", schema, False, "--value")
        assert parameter.to_click().metavar == placeholder

"""Arguments parsed by a schema, formatted for a shell, and described in the help."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
import pytest

from toolcast_runtime.cli.arguments import (
    Parameter,
    check_command_arguments,
    find_similar_name,
    format_command_arguments,
    is_array_schema,
    list_enum_values,
    list_parameters,
    list_types,
    make_option_normalizer,
    parse_json,
    parse_json_object,
    parse_list,
    parse_value,
    resolve_properties,
)
from toolcast_runtime.core.definitions.tool import Tool

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
TEXTS = {"type": "array", "items": TEXT}
NUMBERS = {"type": "array", "items": NUMBER}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (TEXT, "1", "1"),
        (TEXT, "null", "null"),
        ({"type": ["string", "null"]}, "null", None),
        (NUMBER, "1", 1),
        (NUMBER, "x", "x"),
        ({"type": "number"}, "-0.5", -0.5),
        ({"type": "boolean"}, "true", True),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["object", "array"]}, "[1]", [1]),
        ({"anyOf": [TEXT, {"type": "object"}]}, "1", "1"),
        ({"anyOf": [TEXT, {"type": "object"}]}, "x", "x"),
        ({"anyOf": [TEXT, {"type": "object"}]}, '{"a": 1}', {"a": 1}),
        ({"oneOf": [TEXT, TEXTS]}, "[1]", [1]),
        ({"enum": ["1", 2]}, "1", "1"),
        ({"enum": [1, 2]}, "1", 1),
        ({"const": "1"}, "1", "1"),
        ({}, "1", 1),
        ({}, "x", "x"),
        ({}, "null", None),
        ({}, " null", " null"),
        (True, "1", 1),
    ],
)
def test_cli_parses_argument_text_by_the_parameters_json_schema_type(
    schema: Any, text: str, value: Any
) -> None:
    found = parse_value(schema, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": ["array", "object"]}])
def test_cli_text_for_an_object_parameter_must_be_json(schema: Any) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        parse_value(schema, "x")


@pytest.mark.parametrize(
    ("schema", "arguments", "value"),
    [
        (TEXTS, ["a"], ["a"]),
        (TEXTS, ["[1]"], ["[1]"]),
        (TEXTS, [], []),
        (NUMBERS, ["1", "2"], [1, 2]),
        (NUMBERS, [" [1, 2]"], [1, 2]),
        (NUMBERS, ["[1]", "2"], [[1], 2]),
        (NUMBERS, ["1"], [1]),
        ({"type": "array"}, ["[1, [2]]"], [1, [2]]),
    ],
)
def test_cli_parses_repeated_arguments_as_array(
    schema: Any, arguments: list[str], value: Any
) -> None:
    assert parse_list(schema, arguments) == value


def test_cli_reads_an_array_argument_from_an_at_file(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text("[1, 2]")
    assert parse_list(NUMBERS, [f"@{file}"]) == [1, 2]
    file.write_text("\ufeff3")
    assert parse_list(NUMBERS, [f"@{file}"]) == [3]


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        (True, ()),
        ({}, ()),
        ({"type": "text"}, ()),
        ({"type": ["null", "string"]}, ("null", "string")),
        ({"type": "integer", "enum": ["a", 1, "b"]}, ("integer", "string")),
        ({"const": 1}, ()),
        ({"anyOf": [NUMBER, TEXT], "oneOf": [TEXTS]}, ("integer", "string", "array")),
    ],
)
def test_list_types_returns_the_types_that_a_json_schema_allows(
    schema: Any, types: tuple[str, ...]
) -> None:
    assert list_types(schema) == types


def test_list_enum_values_returns_each_enum_values_command_line_text() -> None:
    texts = ["a", "1", "null", '{"a": "é"}']
    assert list_enum_values({"enum": ["a", 1, None, {"a": "é"}]}) == texts
    for schema in ({"enum": "a"}, True, TEXT):
        assert list_enum_values(schema) == []
    assert is_array_schema(TEXTS)
    assert not is_array_schema({"type": ["array", "null"]})
    assert not is_array_schema(True)


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("Order ID", ["order_id"], "order_id"),
        ("ordr-id", ["other", "order_id"], "order_id"),
        ("xyz", ["order_id"], None),
        ("order_id", ["order-id", "order_id"], "order-id"),
        # Only the first 128 characters are compared; 55 equal ones suffice for them.
        ("q" * 999, ["q" * 55], "q" * 55),
        ("q" * 127 + "w", [*(f"{n}" for n in range(499)), "q" * 128], "q" * 128),
        ("q" * 127 + "w", [*(f"{n}" for n in range(500)), "q" * 128], None),
    ],
)
def test_find_similar_name_returns_the_known_name_most_similar_to_a_misspelling(
    name: str, known: list[str], expected: str | None
) -> None:
    assert find_similar_name(name, known) == expected


def test_cli_reports_invalid_utf_8_arguments_before_other_problems() -> None:
    found = check_command_arguments({"a": 1}, lambda arguments: [f"{arguments}"])
    assert found == ["{'a': 1}"]
    found = check_command_arguments({"a": "\udcff"}, lambda _: [])
    assert found == ["the arguments are not valid UTF-8"]


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_cli_error_for_undecoded_utf_8_argument_names_the_encoding_and_pythonutf8(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With LC_ALL=C and PYTHONUTF8=0, Python decodes arguments as ASCII."""
    monkeypatch.setattr("sys.getfilesystemencoding", lambda: encoding)
    utf_8 = "naïve".encode().decode("ascii", "surrogateescape")
    [message] = check_command_arguments({"a": utf_8}, lambda _: [])
    assert ("not valid UTF-8" in message) == (encoding == "utf-8")
    assert ("`ascii`; set `PYTHONUTF8=1`" in message) == (encoding == "ascii")
    [message] = check_command_arguments({"a": "\udcff"}, lambda _: [])
    assert message == "the arguments are not valid UTF-8"


def test_cli_arguments_option_parses_a_json_object_or_at_file(tmp_path: Path) -> None:
    assert parse_json_object(None) == {}
    assert parse_json_object('{"a": 1}') == {"a": 1}
    file = tmp_path / "a.json"
    for text, problem in (
        ("[1]", "not a JSON object"),
        ("{", "not JSON: .*line 1, column 2"),
        ("NaN", "not JSON: NaN is not a JSON number"),
        ("[" * 100_000, "not JSON: it is nested too deeply"),
    ):
        with pytest.raises(ValueError, match=problem):
            parse_json_object(text)
        file.write_text(text)
        with pytest.raises(ValueError, match=problem):
            parse_json_object(f"@{file}")
    file.write_bytes(b"\xff")
    with pytest.raises(ValueError, match="is not UTF-8"):
        parse_json(f"@{file}")
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        parse_json(f"@{file}x")


def test_cli_rejects_json_argument_files_and_stdin_above_16_mib(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text("1".ljust(1 << 24))
    stdin = os.dup(0)
    try:
        with file.open("rb+") as stream:
            os.dup2(stream.fileno(), 0)
            assert parse_json(f"@{file}") == parse_json("-") == 1
            stream.seek(0, os.SEEK_END)
            stream.write(b" ")
            stream.seek(0)
            for text in (f"@{file}", "-"):
                with pytest.raises(ValueError, match="is longer than 16777216 bytes"):
                    parse_json(text)
    finally:
        os.dup2(stdin, 0)
        os.close(stdin)


def _make_tool(parameters: dict[str, Any], **others: Any) -> Tool:
    definition = {"name": "give", "inputSchema": parameters}
    return Tool("give", "", "Gives.", definition, **others)


def test_resolve_properties_resolves_refs_in_schemas_two_levels_deep() -> None:
    """Deeper, circular and unresolvable references are returned unchanged.

    At most 20 references are resolved one after another.
    """
    chain = {f"r{n}": {"$ref": f"#/$defs/r{n - 1}"} for n in range(1, 21)}
    schema: Any = {
        "properties": {
            "a": {"$ref": "#/$defs/text", "description": "own"},
            "b": {"allOf": [{"$ref": "#/$defs/text"}], "title": "B"},
            "c": {"allOf": [TEXT, NUMBER]},
            "d": {"$ref": "#/nowhere"},
            "e": {"$ref": "#/$defs/all"},
            "f": {"items": {"anyOf": [{"$ref": "#/$defs/text"}]}},
            "g": {"items": {"items": {"items": {"$ref": "#/$defs/text"}}}},
            "h": {"oneOf": [{"$ref": "#/$defs/text"}], "anyOf": "x"},
            "i": True,
            "j": {"$ref": "#/$defs/round"},
            "k": {"$ref": "#/$defs/r19"},
            "l": {"$ref": "#/$defs/r20"},
            "m": {"oneOf": [{"items": {"$ref": "#/$defs/r0"}}]},
            "n": {"anyOf": [{"anyOf": [{"anyOf": [{"$ref": "#/$defs/r0"}]}]}]},
        },
        "$defs": {
            **chain,
            "r0": TEXT,
            "text": {**TEXT, "description": "theirs"},
            "all": True,
            "round": {"$ref": "#/$defs/round"},
        },
    }
    text = schema["$defs"]["text"]
    assert resolve_properties(_make_tool(schema)) == {
        "a": {**TEXT, "description": "own"},
        "b": {**text, "title": "B"},
        "c": {"allOf": [TEXT, NUMBER]},
        "d": {"$ref": "#/nowhere"},
        "e": {"$ref": "#/$defs/all"},
        "f": {"items": {"anyOf": [text]}},
        "g": {"items": {"items": {"items": {"$ref": "#/$defs/text"}}}},
        "h": {"oneOf": [text], "anyOf": "x"},
        "i": True,
        "j": {"$ref": "#/$defs/round"},
        "k": TEXT,
        "l": {"$ref": "#/$defs/r0"},
        "m": {"oneOf": [{"items": TEXT}]},
        "n": {"anyOf": [{"anyOf": [{"anyOf": [{"$ref": "#/$defs/r0"}]}]}]},
    }


def _make_option(schema: Any, required: bool = False) -> Parameter:
    return Parameter("an_a", "key", schema, required, "--an-a")


def _make_positional(schema: Any, rest: bool = False) -> Parameter:
    return Parameter("an_a", "key", schema, False, takes_rest=rest)


@pytest.mark.parametrize(
    ("parameter", "value", "arguments"),
    [
        (_make_option(TEXT), "x y", ["--an-a", "x y"]),
        (_make_option(TEXT), 1, []),
        (_make_option(NUMBER), 1, ["--an-a", "1"]),
        (_make_option(NUMBER), "1", []),
        (_make_option({"type": "boolean"}), True, ["--an-a"]),
        (_make_option({"type": "boolean"}), False, ["--no-an-a"]),
        (_make_option({"type": "boolean"}), "x", []),
        (_make_option(TEXTS), ["a", "b"], ["--an-a", "a", "--an-a", "b"]),
        (_make_option(TEXTS), "a", []),
        (_make_option(NUMBERS), [1], ["--an-a", "1"]),
        (_make_option(NUMBERS), [[1]], []),
        (_make_option({"type": "object"}), {"a": 1}, ["--an-a", '{"a": 1}']),
        (_make_option({"type": "object"}), "x", []),
        (_make_positional({"type": "boolean"}), True, ["true"]),
        (_make_positional(TEXT), "x y", ["x y"]),
        (_make_positional(TEXT, rest=True), "x y", ["x", "y"]),
        (_make_positional(TEXT, rest=True), "x 'y", ["x 'y"]),
        (_make_positional(TEXTS, rest=True), ["x y", "z"], ["x y", "z"]),
        (_make_positional(TEXTS, rest=True), "x", []),
        (_make_positional(TEXTS), ["x"], ['["x"]']),
    ],
)
def test_parameter_formats_a_value_as_shell_arguments_or_none_if_invalid(
    parameter: Parameter, value: Any, arguments: list[str]
) -> None:
    assert parameter.format_arguments(value) == arguments


LONG = {"enum": ["a" * 19, "b" * 21]}


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (_make_option({"description": " An\n a. "}), "An a."),
        (_make_option({"description": "An a."}, True), "An a.  [required]"),
        (_make_option(True), ""),
        (_make_option({"default": "x"}), "[default: x]"),
        (_make_option({"default": [1]}), "[default: [1]]"),
        (_make_option(TEXTS), "[repeatable]"),
        (_make_positional(TEXTS), ""),
        (_make_option({"enum": ["a", "b"]}), ""),
        (_make_positional({"enum": ["a", 1]}), "[one of: a, 1]"),
        (_make_option({"type": "array", "items": {"enum": ["a"]}}), "[repeatable]"),
        (_make_positional({"type": "array", "items": {"enum": ["a"]}}), "[one of: a]"),
        (_make_option({"enum": ["a" * 19, "b" * 20]}), ""),
        (_make_option(LONG), f"[one of: {'a' * 19}, {'b' * 21}]"),
        (
            _make_option({**LONG, "default": 1}, True),
            f"[required; one of: {'a' * 19}, {'b' * 21}; default: 1]",
        ),
    ],
)
def test_cli_parameter_help_has_description_constraints_and_required_mark(
    parameter: Parameter, text: str
) -> None:
    assert parameter.help == text


@pytest.mark.parametrize(
    ("schema", "placeholder"),
    [
        (TEXT, "TEXT"),
        (NUMBER, "INTEGER"),
        ({"type": "number"}, "NUMBER"),
        ({"type": "object"}, "JSON"),
        ({"type": ["string", "null"]}, "TEXT"),
        (True, "JSON"),
        (TEXTS, "TEXT"),
        ({"type": "array", "items": NUMBERS}, "INTEGER"),
        ({"type": "array"}, "JSON"),
        ({"enum": ["a", "b"]}, "[a|b]"),
        ({"enum": ["a" * 19, "b" * 20]}, f"[{'a' * 19}|{'b' * 20}]"),
        (LONG, "TEXT"),
        ({"type": "integer", "enum": [10**19, 10**20]}, "INTEGER"),
    ],
)
def test_cli_option_placeholder_is_the_type_in_the_json_schema(
    schema: Any, placeholder: str
) -> None:
    option = _make_option(schema).to_click()
    assert isinstance(option, click.Option)
    assert (option.metavar, option.opts) == (placeholder, ["--an-a"])
    assert option.multiple is (schema is not True and schema.get("type") == "array")


def test_cli_boolean_parameter_has_options_with_and_without_no_prefix() -> None:
    option = _make_option({"type": "boolean"}).to_click()
    assert (option.opts, option.secondary_opts) == (["--an-a"], ["--no-an-a"])
    assert option.default is None


@pytest.mark.parametrize(
    ("parameter", "placeholder", "count"),
    [
        (Parameter("a", "k", TEXT, True), "A", 1),
        (Parameter("a", "k", TEXT, False), "[A]", 1),
        (Parameter("a", "k", TEXT, True, takes_rest=True), "A...", -1),
        (Parameter("a", "k", TEXT, False, takes_rest=True), "[A...]", -1),
    ],
)
def test_cli_positional_argument_placeholder_is_its_name(
    parameter: Parameter, placeholder: str, count: int
) -> None:
    argument = parameter.to_click()
    assert isinstance(argument, click.Argument)
    assert (argument.metavar, argument.nargs) == (placeholder, count)
    assert not argument.required


def _summarize(parameters: list[Parameter]) -> list[tuple[str, str, bool, bool]]:
    return [(p.name, p.flag or p.key, p.is_required, p.takes_rest) for p in parameters]


def test_cli_command_lists_positional_arguments_before_options() -> None:
    names = ["b", "to", "a_b", "a-b", "no a", "A", "help", "arguments", "é"]
    properties = {**dict.fromkeys(names, TEXT), "to": TEXTS}
    schema = {"properties": properties, "required": ["b", "a_b"]}
    usage = [{"parameter": "b", "optional": True}, {"parameter": "to"}]
    parameters = list(list_parameters(_make_tool(schema, cli={"usage": usage}), None))
    assert _summarize(parameters) == [
        ("b", "positional_0", False, False),
        ("to", "positional_1", True, True),
        ("a_b", "--a-b", True, False),
        ("no a", "--no-a", False, False),
    ]
    assert [p.key for p in parameters[2:]] == ["option_a_b", "option_no_a"]
    rest = [{"parameter": "b", "rest": True}]
    found = list(list_parameters(_make_tool(schema, cli={"usage": rest}), None))
    assert _summarize(found)[0] == ("b", "positional_0", True, True)
    assert _summarize(list(list_parameters(_make_tool(schema), None)))[:2] == [
        ("b", "--b", True, False),
        ("to", "--to", False, False),
    ]


def test_cli_option_spelled_like_the_property_is_accepted_unless_ambiguous() -> None:
    schema = {"properties": {"a-b": TEXT, "a_b": TEXT, "isOpen": {"type": "boolean"}}}
    tool = _make_tool(schema)
    normalize = make_option_normalizer(list(list_parameters(tool, None)), tool)
    assert normalize("isOpen") == "isopen"
    assert normalize("no-isOpen") == "no-isopen"
    assert normalize("a-b") == "a-b"
    assert normalize("a_b") == "a_b"
    assert normalize("other") == "other"
    tool = _make_tool({"properties": {"a b": TEXT}})
    normalize = make_option_normalizer(list(list_parameters(tool, None)), tool)
    assert normalize("a_b") == normalize("a b") == "a-b"


def test_example_arguments_are_formatted_as_command_shell_words() -> None:
    parameters = [
        Parameter("one", "k", TEXT, True),
        Parameter("two", "k", TEXT, True),
        _make_option(NUMBER),
    ]
    for arguments, expected in (
        ({"one": "a b", "an_a": 1, "two": "c"}, "--an-a 1 'a b' c"),
        ({"one": "-a"}, "-- -a"),
        ({"two": "c"}, """--arguments '{"two": "c"}'"""),
        ({"one": 1, "two": "c"}, """--arguments '{"one": 1, "two": "c"}'"""),
        ({"an_a": "x", "b": "é"}, """--an-a x --arguments '{"b": "é"}'"""),
        ({"an_a": "1"}, """--arguments '{"an_a": "1"}'"""),
    ):
        assert " ".join(format_command_arguments(arguments, parameters)) == expected

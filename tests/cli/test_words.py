"""How one word is read by its schema, and which words give a value."""

from __future__ import annotations

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
def test_a_word_is_the_value_that_its_schema_asks_for(
    schema: Any, text: str, value: Any
) -> None:
    found = parse_value(schema, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("schema", [{"type": "object"}, {"type": ["array", "object"]}])
def test_what_can_only_be_json_has_to_be(schema: Any) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        parse_value(schema, "x")


@pytest.mark.parametrize(
    ("schema", "words", "value"),
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
def test_words_are_a_list(schema: Any, words: list[str], value: Any) -> None:
    assert parse_list(schema, words) == value


def test_a_list_may_stand_in_a_file(tmp_path: Path) -> None:
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
def test_a_schema_names_types(schema: Any, types: tuple[str, ...]) -> None:
    assert list_types(schema) == types


def test_the_only_values_are_choices() -> None:
    assert list_enum_values({"enum": ["a", 1, None, {"a": "é"}]}) == [
        "a",
        "1",
        "null",
        '{"a": "é"}',
    ]
    assert (
        list_enum_values({"enum": "a"})
        == list_enum_values(True)
        == list_enum_values(TEXT)
        == []
    )
    assert is_array_schema(TEXTS)
    assert not is_array_schema({"type": ["array", "null"]})
    assert not is_array_schema(True)


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("Order ID", ["order_id"], "order_id"),
        ("ordr-id", ["other", "order_id"], "order_id"),
        ("xyz", ["order_id"], None),
        ("order_id", ["order-id", "order_id"], "order-id"),
        ("q" * 128 + "w" * 999, ["q" * 128], "q" * 128),
        ("q" * 127 + "w", [*(f"{n}" for n in range(499)), "q" * 128], "q" * 128),
        ("q" * 127 + "w", [*(f"{n}" for n in range(500)), "q" * 128], None),
    ],
)
def test_what_a_name_was_meant_for(
    name: str, known: list[str], meant: str | None
) -> None:
    assert find_similar_name(name, known) == meant


def test_problems_are_those_of_the_call_unless_the_words_are_no_text() -> None:
    assert check_command_arguments({"a": 1}, lambda arguments: [f"{arguments}"]) == [
        "{'a': 1}"
    ]
    assert check_command_arguments({"a": "\udcff"}, lambda _: []) == [
        "the arguments are not valid UTF-8"
    ]


def test_json_is_read_from_a_word_or_a_file(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("length", "is_read"), [(1 << 24, True), ((1 << 24) + 1, False)]
)
def test_a_file_has_sixteen_mebibytes_at_most(
    tmp_path: Path, length: int, is_read: bool
) -> None:
    file = tmp_path / "long.json"
    file.write_text("1".ljust(length))
    if is_read:
        assert parse_json(f"@{file}") == 1
    else:
        with pytest.raises(ValueError, match="is longer than 16777216 bytes"):
            parse_json(f"@{file}")


def _tool(parameters: dict[str, Any], **others: Any) -> Tool:
    definition = {"name": "give", "inputSchema": parameters}
    return Tool("give", "", "Gives.", definition, **others)


def test_references_of_parameters_are_followed_as_far_as_they_decide() -> None:
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
        },
        "$defs": {
            "text": {**TEXT, "description": "theirs"},
            "all": True,
            "round": {"$ref": "#/$defs/round"},
        },
    }
    text = schema["$defs"]["text"]
    assert resolve_properties(_tool(schema)) == {
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
    }


def _option(schema: Any, required: bool = False) -> Parameter:
    return Parameter("an_a", "key", schema, required, "--an-a")


def _place(schema: Any, rest: bool = False) -> Parameter:
    return Parameter("an_a", "key", schema, False, takes_rest=rest)


@pytest.mark.parametrize(
    ("parameter", "value", "words"),
    [
        (_option(TEXT), "x y", ["--an-a", "x y"]),
        (_option(TEXT), 1, []),
        (_option(NUMBER), 1, ["--an-a", "1"]),
        (_option(NUMBER), "1", []),
        (_option({"type": "boolean"}), True, ["--an-a"]),
        (_option({"type": "boolean"}), False, ["--no-an-a"]),
        (_option({"type": "boolean"}), "x", []),
        (_option(TEXTS), ["a", "b"], ["--an-a", "a", "--an-a", "b"]),
        (_option(TEXTS), "a", []),
        (_option(NUMBERS), [1], ["--an-a", "1"]),
        (_option(NUMBERS), [[1]], []),
        (_option({"type": "object"}), {"a": 1}, ["--an-a", '{"a": 1}']),
        (_option({"type": "object"}), "x", []),
        (_place({"type": "boolean"}), True, ["true"]),
        (_place(TEXT), "x y", ["x y"]),
        (_place(TEXT, rest=True), "x y", ["x", "y"]),
        (_place(TEXT, rest=True), "x 'y", ["x 'y"]),
        (_place(TEXTS, rest=True), ["x y", "z"], ["x y", "z"]),
        (_place(TEXTS, rest=True), "x", []),
        (_place(TEXTS), ["x"], ['["x"]']),
    ],
)
def test_words_give_a_value(parameter: Parameter, value: Any, words: list[str]) -> None:
    assert parameter.format_arguments(value) == words


LONG = {"enum": ["a" * 19, "b" * 21]}


@pytest.mark.parametrize(
    ("parameter", "text"),
    [
        (_option({"description": " An\n a. "}), "An a."),
        (_option({"description": "An a."}, True), "An a.  [required]"),
        (_option(True), ""),
        (_option({"default": "x"}), "[default: x]"),
        (_option({"default": [1]}), "[default: [1]]"),
        (_option(TEXTS), "[repeatable]"),
        (_place(TEXTS), ""),
        (_option({"enum": ["a", "b"]}), ""),
        (_place({"enum": ["a", 1]}), "[one of: a, 1]"),
        (_option({"type": "array", "items": {"enum": ["a"]}}), "[repeatable]"),
        (_place({"type": "array", "items": {"enum": ["a"]}}), "[one of: a]"),
        (_option({"enum": ["a" * 19, "b" * 20]}), ""),
        (_option(LONG), f"[one of: {'a' * 19}, {'b' * 21}]"),
        (
            _option({**LONG, "default": 1}, True),
            f"[required; one of: {'a' * 19}, {'b' * 21}; default: 1]",
        ),
    ],
)
def test_the_help_says_what_the_schema_adds(parameter: Parameter, text: str) -> None:
    assert parameter.help == text


@pytest.mark.parametrize(
    ("schema", "shown"),
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
def test_an_option_shows_what_it_takes(schema: Any, shown: str) -> None:
    option = _option(schema).to_click()
    assert isinstance(option, click.Option)
    assert (option.metavar, option.opts) == (shown, ["--an-a"])
    assert option.multiple is (schema is not True and schema.get("type") == "array")


def test_a_switch_has_two_options() -> None:
    option = _option({"type": "boolean"}).to_click()
    assert (option.opts, option.secondary_opts) == (["--an-a"], ["--no-an-a"])
    assert option.default is None


@pytest.mark.parametrize(
    ("parameter", "shown", "count"),
    [
        (Parameter("a", "k", TEXT, True), "A", 1),
        (Parameter("a", "k", TEXT, False), "[A]", 1),
        (Parameter("a", "k", TEXT, True, takes_rest=True), "A...", -1),
        (Parameter("a", "k", TEXT, False, takes_rest=True), "[A...]", -1),
    ],
)
def test_a_positional_shows_its_name(
    parameter: Parameter, shown: str, count: int
) -> None:
    argument = parameter.to_click()
    assert isinstance(argument, click.Argument)
    assert (argument.metavar, argument.nargs) == (shown, count)
    assert not argument.required


def _listed(parameters: list[Parameter]) -> list[tuple[str, str, bool, bool]]:
    return [(p.name, p.flag or p.key, p.is_required, p.takes_rest) for p in parameters]


def test_a_command_takes_places_then_options() -> None:
    schema = {
        "properties": {
            "b": TEXT,
            "to": TEXTS,
            "a_b": TEXT,
            "a-b": TEXT,
            "no a": TEXT,
            "A": TEXT,
            "help": TEXT,
            "arguments": TEXT,
            "é": TEXT,
        },
        "required": ["b", "a_b"],
    }
    usage = [{"parameter": "b", "optional": True}, {"parameter": "to"}]
    parameters = list(list_parameters(_tool(schema, cli={"usage": usage}), None))
    assert _listed(parameters) == [
        ("b", "positional_0", False, False),
        ("to", "positional_1", True, True),
        ("a_b", "--a-b", True, False),
        ("no a", "--no-a", False, False),
    ]
    assert [p.key for p in parameters[2:]] == ["option_a_b", "option_no_a"]
    rest = [{"parameter": "b", "rest": True}]
    found = list(list_parameters(_tool(schema, cli={"usage": rest}), None))
    assert _listed(found)[0] == ("b", "positional_0", True, True)
    assert _listed(list(list_parameters(_tool(schema), None)))[:2] == [
        ("b", "--b", True, False),
        ("to", "--to", False, False),
    ]


def test_each_spelling_of_an_option_is_understood_unless_it_is_another() -> None:
    schema = {"properties": {"a-b": TEXT, "a_b": TEXT, "isOpen": {"type": "boolean"}}}
    tool = _tool(schema)
    spelt = make_option_normalizer(list(list_parameters(tool, None)), tool)
    assert spelt("isOpen") == "isopen"
    assert spelt("no-isOpen") == "no-isopen"
    assert spelt("a-b") == "a-b"
    assert spelt("a_b") == "a_b"
    assert spelt("other") == "other"
    tool = _tool({"properties": {"a b": TEXT}})
    spelt = make_option_normalizer(list(list_parameters(tool, None)), tool)
    assert spelt("a_b") == spelt("a b") == "a-b"


def test_words_of_a_shell_give_the_arguments() -> None:
    parameters = [
        Parameter("one", "k", TEXT, True),
        Parameter("two", "k", TEXT, True),
        _option(NUMBER),
    ]
    for arguments, words in (
        ({"one": "a b", "an_a": 1, "two": "c"}, "--an-a 1 'a b' c"),
        ({"one": "-a"}, "-- -a"),
        ({"two": "c"}, """--arguments '{"two": "c"}'"""),
        ({"one": 1, "two": "c"}, """--arguments '{"one": 1, "two": "c"}'"""),
        ({"an_a": "x", "b": "é"}, """--an-a x --arguments '{"b": "é"}'"""),
        ({"an_a": "1"}, """--arguments '{"an_a": "1"}'"""),
    ):
        assert " ".join(format_command_arguments(arguments, parameters)) == words

"""Each kind of mismatch between the schema of a class and that of a spec."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from toolcast_runtime.core.context import ArgumentConversionError
from toolcast_runtime.values.model_comparison import find_mismatches, is_open
from toolcast_runtime.values.models import ArgumentsModel

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}


def check_args(model: Any, spec: Any, has_values: bool = False) -> list[str]:
    return find_mismatches(model, spec, is_result=False, has_values=has_values)


def check_results(model: Any, spec: Any, has_values: bool = False) -> list[str]:
    return find_mismatches(model, spec, is_result=True, has_values=has_values)


def _object(*required: str, closed: bool = True, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return schema if closed else {**schema, "additionalProperties": True}


@pytest.mark.parametrize(
    ("keyword", "narrower", "same", "wider"),
    [
        ("minLength", 3, 2, 1),
        ("minItems", 3, 2, 1),
        ("minProperties", 3, 2, 1),
        ("minimum", 3, 2, 1),
        ("exclusiveMinimum", 3, 2, 1),
        ("maxLength", 1, 2, 3),
        ("maxItems", 1, 2, 3),
        ("maxProperties", 1, 2, 3),
        ("maximum", 1, 2, 3),
        ("exclusiveMaximum", 1, 2, 3),
        ("pattern", "a", "b", None),
        ("multipleOf", 4, 2, None),
    ],
)
def test_json_schema_keyword_that_is_narrower_in_a_handler_class_than_in_the_spec_is_reported(
    keyword: str, narrower: Any, same: Any, wider: Any
) -> None:
    kinds = {"Items": "array", "Properties": "object", "Length": "string"}
    suffix = re.sub("^min|^max", "", keyword)
    kind = "string" if keyword == "pattern" else kinds.get(suffix, "integer")
    spec = {"type": kind, keyword: same}
    formatted = f'"{narrower}"' if isinstance(narrower, str) else narrower
    problem = f"it has `{keyword}: {formatted}`, which the spec lacks"
    assert check_args({"type": kind, keyword: narrower}, spec) == [problem]
    assert check_args({"type": kind, keyword: same}, spec) == []
    if wider is not None:
        assert check_args({"type": kind, keyword: wider}, spec) == []
    assert check_args({"type": kind}, spec) == []
    assert check_args({"type": kind, keyword: narrower}, {"type": kind}) == [problem]
    assert check_results({"type": kind}, spec) == []


@pytest.mark.parametrize(
    ("model", "spec"),
    [
        ({"minimum": 3}, {"exclusiveMinimum": 2}),
        ({"exclusiveMinimum": 3}, {"minimum": 2}),
        ({"maximum": 3}, {"exclusiveMaximum": 4}),
        ({"exclusiveMaximum": 3}, {"maximum": 4}),
    ],
)
def test_exclusive_minimum_in_a_class_and_minimum_in_a_spec_are_not_compared(
    model: Any, spec: Any
) -> None:
    assert check_args({**INTEGER, **model}, {**INTEGER, **spec}) == []


@pytest.mark.parametrize(
    ("model", "spec", "argument_messages", "result_messages"),
    [
        (TEXT, TEXT, [], []),
        (
            TEXT,
            INTEGER,
            ["it is of type string, but integer in the spec"],
            ["it is of type string, but integer in the spec"],
        ),
        (
            INTEGER,
            {"type": "number"},
            ["it is of type integer, but number in the spec"],
            [],
        ),
        (
            {"type": "number"},
            INTEGER,
            [],
            ["it is of type number, but integer in the spec"],
        ),
        ({"type": ["string", "integer"]}, INTEGER, [], []),
        (
            {"anyOf": [TEXT, {"type": "boolean"}]},
            {"oneOf": [INTEGER, {"type": "array"}]},
            ["it is of type string or boolean, but integer or array in the spec"],
            ["it is of type string or boolean, but integer or array in the spec"],
        ),
        (
            {"type": ["string", "null"]},
            TEXT,
            [],
            ["it may be None, but `returns` does not allow null"],
        ),
        (
            TEXT,
            {"type": ["string", "null"]},
            ["it may be null, which the class does not accept"],
            [],
        ),
        (
            TEXT,
            {"enum": ["a", None]},
            ["it may be null, which the class does not accept"],
            [],
        ),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, [], []),
        (
            {"enum": ["a", "c"]},
            {"enum": ["a", "b"]},
            ['it does not accept "b", which callers may send'],
            ['it may be "c", which `returns` does not allow'],
        ),
        (
            {"type": "string", "const": "a"},
            TEXT,
            ["it accepts only some values, but the spec has no `enum`"],
            [],
        ),
        (TEXT, {"const": "a"}, [], []),
        (
            {"type": "array", "items": TEXT},
            {"type": "array", "items": INTEGER},
            ["`[]` is of type string, but integer in the spec"],
            ["`[]` is of type string, but integer in the spec"],
        ),
        (
            _object("a", a=TEXT),
            _object("a", a=INTEGER),
            ["`a` is of type string, but integer in the spec"],
            ["`a` is of type string, but integer in the spec"],
        ),
        (
            _object(a=_object(b=TEXT)),
            _object(a=_object(b=INTEGER)),
            ["`a.b` is of type string, but integer in the spec"],
            ["`a.b` is of type string, but integer in the spec"],
        ),
        (
            _object("a", a=TEXT),
            _object("b", a=TEXT, b=TEXT),
            [
                "it has no `b`, which callers may send",
                "it requires `a`, which callers may omit",
            ],
            ["it has no `b`, which is required"],
        ),
        (
            _object("a", a=_object("x", x=TEXT)),
            _object("a", a=_object(y=TEXT)),
            [
                "`a` has no `a.y`, which callers may send",
                "`a` requires `a.x`, which callers may omit",
            ],
            [],
        ),
        (_object(closed=False, a=TEXT), _object(a=TEXT, b=TEXT), [], []),
        (_object("a", a=TEXT), {**_object(a=TEXT), "anyOf": []}, [], []),
        (
            _object(a=TEXT),
            {**_object(), "additionalProperties": False},
            [],
            ["`a` is not in `returns`"],
        ),
        (_object(a=TEXT), _object(), [], []),
        ({"$ref": "#/x"}, TEXT, [], []),
        ({}, TEXT, [], []),
        (TEXT, True, [], []),
        ({"enum": [1, "a"]}, TEXT, [], []),
    ],
)
def test_handler_class_schema_mismatches_are_reported_for_arguments_and_for_results(
    model: Any, spec: Any, argument_messages: list[str], result_messages: list[str]
) -> None:
    assert check_args(model, spec) == argument_messages
    assert check_results(model, spec) == result_messages


DAY = {**TEXT, "format": "date"}
BYTES = {**TEXT, "contentEncoding": "base64"}
BINARY = {**TEXT, "format": "binary"}


@pytest.mark.parametrize(
    ("model", "spec", "has_values", "argument_messages", "result_messages"),
    [
        (DAY, DAY, False, [], []),
        (DAY, DAY, True, [], []),
        (DAY, TEXT, False, ["it is of format date, but none in the spec"], []),
        (
            DAY,
            {**TEXT, "format": "uuid"},
            False,
            ["it is of format date, but uuid in the spec"],
            ["it is of format date, but uuid in the spec"],
        ),
        (DAY, {**TEXT, "pattern": "x"}, False, [], []),
        (TEXT, DAY, False, [], []),
        (TEXT, DAY, True, ["it gets a Python date, which it does not accept"], []),
        ({**TEXT, "format": "date-time"}, DAY, True, [], None),
        ({**TEXT, "format": "email"}, TEXT, False, [], []),
        (
            BINARY,
            BYTES,
            False,
            ["it is bytes, which requires `values: python`"],
            ["it is bytes, which requires `values: python`"],
        ),
        (BINARY, BYTES, True, [], []),
        (BINARY, TEXT, False, [], []),
    ],
)
def test_handler_class_field_format_that_differs_from_the_spec_is_reported(
    model: Any,
    spec: Any,
    has_values: bool,
    argument_messages: list[str],
    result_messages: Any,
) -> None:
    assert check_args(model, spec, has_values) == argument_messages
    if result_messages is not None:
        assert check_results(model, spec, has_values) == result_messages


@pytest.mark.parametrize(("levels", "count"), [(20, 1), (21, 0)])
def test_handler_class_and_spec_arrays_are_compared_up_to_20_nesting_levels(
    levels: int, count: int
) -> None:
    model, spec = TEXT, INTEGER
    for _ in range(levels):
        model = {"type": "array", "items": model}
        spec = {"type": "array", "items": spec}
    assert len(check_args(model, spec)) == count


def test_recursive_handler_class_and_spec_schemas_report_a_mismatch_only_once() -> None:
    def tree(kind: str) -> Any:
        defs = {"t": _object(n={"type": kind}, below={"$ref": "#/$defs/t"})}
        return {"$ref": "#/$defs/t", "$defs": defs}

    assert check_args(tree("string"), tree("integer")) == [
        "`n` is of type string, but integer in the spec"
    ]


@pytest.mark.parametrize(
    ("value", "formatted"),
    [
        ("a" * 58, '"' + "a" * 58 + '"'),
        ("a" * 59, '"' + "a" * 56 + "..."),
        ("\u202e", r'"\u202e"'),
    ],
)
def test_rejected_enum_value_in_a_message_is_ascii_json_up_to_60_characters(
    value: str, formatted: str
) -> None:
    assert check_args({"enum": ["b"]}, {"enum": [value]}) == [
        f"it does not accept {formatted}, which callers may send"
    ]


def test_schema_is_open_only_if_additional_properties_is_true_or_a_schema() -> None:
    assert is_open({"additionalProperties": True})
    assert is_open({"additionalProperties": TEXT})
    assert not is_open({"additionalProperties": False})
    assert not is_open({})


def test_at_most_10_arguments_that_the_arguments_type_rejects_are_reported_without_values(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The caller gets their names and the log the types of errors; neither gets values."""

    class Refusing(BaseModel):
        """A model that rejects every value."""

        @field_validator("*")
        @classmethod
        def reject(cls, value: str) -> str:
            raise ValueError("s3cret")

    names = [f"n{number:02}" for number in range(12)]
    annotations = dict.fromkeys(names, str)
    model_class = type("Made", (Refusing,), {"__annotations__": annotations})
    schema = _object(*names, **dict.fromkeys(names, TEXT))
    model = ArgumentsModel(model_class, schema, has_values=False)
    with (
        caplog.at_level("INFO", "toolcast"),
        pytest.raises(ArgumentConversionError) as reject,
    ):
        model.build(dict.fromkeys(names, "s3cret"))
    assert reject.value.problems == [
        f"`{name}` matches the schema, but the tool's class rejects it"
        for name in names[:10]
    ]
    assert caplog.text.count("value_error") == 10
    assert "s3cret" not in caplog.text

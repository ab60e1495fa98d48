"""Where the schema of a class says other than a spec's, each kind in words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from toolcast_runtime.core.context import ArgumentConversionError
from toolcast_runtime.values.model_comparison import find_mismatches, is_open
from toolcast_runtime.values.models import ArgumentsModel

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def taken(model: Any, said: Any, has_values: bool = False) -> list[str]:
    return find_mismatches(model, said, is_result=False, has_values=has_values)


def given(model: Any, said: Any, has_values: bool = False) -> list[str]:
    return find_mismatches(model, said, is_result=True, has_values=has_values)


def of(*required: str, closed: bool = True, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*required]}
    return schema if closed else {**schema, "additionalProperties": True}


@pytest.mark.parametrize(
    ("word", "narrower", "same", "wider"),
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
def test_a_class_takes_no_less_than_callers_are_told(
    word: str, narrower: Any, same: Any, wider: Any
) -> None:
    kind = "array" if "Items" in word else "object" if "Prop" in word else "string"
    kind = "integer" if word.lower().endswith("imum") or word[0:2] == "mu" else kind
    said = {"type": kind, word: same}
    shown = f'"{narrower}"' if isinstance(narrower, str) else narrower
    problem = f"it has `{word}: {shown}`, which the spec lacks"
    assert taken({"type": kind, word: narrower}, said) == [problem]
    assert taken({"type": kind, word: same}, said) == []
    if wider is not None:
        assert taken({"type": kind, word: wider}, said) == []
    assert taken({"type": kind}, said) == []
    assert taken({"type": kind, word: narrower}, {"type": kind}) == [problem]
    assert given({"type": kind}, said) == []


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({"minimum": 3}, {"exclusiveMinimum": 2}),
        ({"exclusiveMinimum": 3}, {"minimum": 2}),
        ({"maximum": 3}, {"exclusiveMaximum": 4}),
        ({"exclusiveMaximum": 3}, {"maximum": 4}),
    ],
)
def test_bounds_of_another_kind_are_not_compared(model: Any, said: Any) -> None:
    assert taken({**WHOLE, **model}, {**WHOLE, **said}) == []


@pytest.mark.parametrize(
    ("model", "said", "of_taken", "of_given"),
    [
        (TEXT, TEXT, [], []),
        (
            TEXT,
            WHOLE,
            ["it is of type string, but integer in the spec"],
            ["it is of type string, but integer in the spec"],
        ),
        (
            WHOLE,
            {"type": "number"},
            ["it is of type integer, but number in the spec"],
            [],
        ),
        (
            {"type": "number"},
            WHOLE,
            [],
            ["it is of type number, but integer in the spec"],
        ),
        ({"type": ["string", "integer"]}, WHOLE, [], []),
        (
            {"anyOf": [TEXT, {"type": "boolean"}]},
            {"oneOf": [WHOLE, {"type": "array"}]},
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
            {"type": "array", "items": WHOLE},
            ["`[]` is of type string, but integer in the spec"],
            ["`[]` is of type string, but integer in the spec"],
        ),
        (
            of("a", a=TEXT),
            of("a", a=WHOLE),
            ["`a` is of type string, but integer in the spec"],
            ["`a` is of type string, but integer in the spec"],
        ),
        (
            of(a=of(b=TEXT)),
            of(a=of(b=WHOLE)),
            ["`a.b` is of type string, but integer in the spec"],
            ["`a.b` is of type string, but integer in the spec"],
        ),
        (
            of("a", a=TEXT),
            of("b", a=TEXT, b=TEXT),
            [
                "it has no `b`, which callers may send",
                "it requires `a`, which callers may omit",
            ],
            ["it has no `b`, which is required"],
        ),
        (
            of("a", a=of("x", x=TEXT)),
            of("a", a=of(y=TEXT)),
            [
                "`a` has no `a.y`, which callers may send",
                "`a` requires `a.x`, which callers may omit",
            ],
            [],
        ),
        (of(closed=False, a=TEXT), of(a=TEXT, b=TEXT), [], []),
        (of("a", a=TEXT), {**of(a=TEXT), "anyOf": []}, [], []),
        (
            of(a=TEXT),
            {**of(), "additionalProperties": False},
            [],
            ["`a` is not in `returns`"],
        ),
        (of(a=TEXT), of(), [], []),
        ({"$ref": "#/x"}, TEXT, [], []),
        ({}, TEXT, [], []),
        (TEXT, True, [], []),
        ({"enum": [1, "a"]}, TEXT, [], []),
    ],
)
def test_a_class_agrees_or_not(
    model: Any, said: Any, of_taken: list[str], of_given: list[str]
) -> None:
    assert taken(model, said) == of_taken
    assert given(model, said) == of_given


DAY = {**TEXT, "format": "date"}
BYTES = {**TEXT, "contentEncoding": "base64"}
BINARY = {**TEXT, "format": "binary"}


@pytest.mark.parametrize(
    ("model", "said", "has_values", "of_taken", "of_given"),
    [
        (DAY, DAY, False, [], []),
        (DAY, DAY, True, [], []),
        (
            DAY,
            TEXT,
            False,
            ["it is of format date, but none in the spec"],
            [],
        ),
        (
            DAY,
            {**TEXT, "format": "uuid"},
            False,
            ["it is of format date, but uuid in the spec"],
            ["it is of format date, but uuid in the spec"],
        ),
        (DAY, {**TEXT, "pattern": "x"}, False, [], []),
        (TEXT, DAY, False, [], []),
        (
            TEXT,
            DAY,
            True,
            ["it gets a Python date, which it does not accept"],
            [],
        ),
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
def test_formats_agree_or_not(
    model: Any, said: Any, has_values: bool, of_taken: list[str], of_given: Any
) -> None:
    assert taken(model, said, has_values) == of_taken
    if of_given is not None:
        assert given(model, said, has_values) == of_given


@pytest.mark.parametrize(("levels", "found"), [(20, 1), (21, 0)])
def test_twenty_levels_are_compared(levels: int, found: int) -> None:
    model, said = TEXT, WHOLE
    for _ in range(levels):
        model, said = {"type": "array", "items": model}, {
            "type": "array",
            "items": said,
        }
    assert len(taken(model, said)) == found


def test_what_holds_itself_is_compared_once() -> None:
    def tree(kind: str) -> Any:
        defs = {"t": of(n={"type": kind}, below={"$ref": "#/$defs/t"})}
        return {"$ref": "#/$defs/t", "$defs": defs}

    assert taken(tree("string"), tree("integer")) == [
        "`n` is of type string, but integer in the spec"
    ]


def test_a_long_value_is_told_in_part() -> None:
    for length, shown in ((58, '"' + "a" * 58 + '"'), (59, '"' + "a" * 56 + "...")):
        said = {"enum": ["a" * length]}
        assert taken({"enum": ["b"]}, said) == [
            f"it does not accept {shown}, which callers may send"
        ]


def test_a_class_is_open_that_keeps_what_it_has_no_field_for() -> None:
    assert is_open({"additionalProperties": True})
    assert is_open({"additionalProperties": TEXT})
    assert not is_open({"additionalProperties": False})
    assert not is_open({})


def test_ten_arguments_that_a_class_refuses_are_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Places to the caller, kinds of faults to the log; values to nobody."""

    class Refusing(BaseModel):
        """Takes what no schema says."""

        @field_validator("*")
        @classmethod
        def refused(cls, value: str) -> str:
            raise ValueError("s3cret")

    names = [f"n{number:02}" for number in range(12)]
    annotations = dict.fromkeys(names, str)
    made = type("Made", (Refusing,), {"__annotations__": annotations})
    schema = of(*names, **dict.fromkeys(names, TEXT))
    model = ArgumentsModel(made, schema, has_values=False)
    with (
        caplog.at_level("INFO", "toolcast"),
        pytest.raises(ArgumentConversionError) as refused,
    ):
        model.build(dict.fromkeys(names, "s3cret"))
    assert refused.value.problems == [
        f"`{name}` matches the schema, but the tool's class rejects it"
        for name in names[:10]
    ]
    assert caplog.text.count("value_error") == 10
    assert "s3cret" not in caplog.text

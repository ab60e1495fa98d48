"""Handler classes compared with schemas: parameters must be accepted, results allowed."""

from __future__ import annotations

import dataclasses
import logging
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, Literal, NotRequired, TypeVar
from uuid import UUID

import pytest
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, RootModel, TypeAdapter
from typing_extensions import TypedDict

from toolcast_runtime.core.context import ArgumentConversionError
from toolcast_runtime.values.model_comparison import find_mismatches
from toolcast_runtime.values.models import ArgumentsModel

T = TypeVar("T")
DAY = {"type": "string", "format": "date"}
BYTES = {"type": "string", "contentEncoding": "base64"}
LEVEL = {"enum": ["low", "high"]}
TEXT_OR_NULL = {"type": ["string", "null"]}
PARTS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["n"],
    },
}
TREE = {"$ref": "#/$defs/tree"}
DEFS = {
    "tree": {
        "type": "object",
        "properties": {"at": DAY, "below": {"type": "array", "items": TREE}},
    }
}


class Level(Enum):
    LOW = "low"
    HIGH = "high"


class OneLevel(Enum):
    LOW = "low"


class Part(BaseModel):
    n: int
    name: str = ""


class PartLess(BaseModel):
    n: int


class PartNeeds(BaseModel):
    n: int
    name: str


class Tree(BaseModel):
    at: date | None = None
    below: list[Tree] = []


class TreeOther(BaseModel):
    at: UUID | None = None
    below: list[TreeOther] = []


def make_model(type_: Any) -> Any:
    """Return a model with one optional field `a`."""
    namespace = {"__annotations__": {"a": type_}, "a": None, "__module__": __name__}
    return type("One", (BaseModel,), namespace)


def compare(type_: Any, schema: Any, *, is_result: bool, has_values: bool) -> list[str]:
    mode: Any = "serialization" if is_result else "validation"
    schema_of_spec = {"type": "object", "properties": {"a": schema}, "$defs": DEFS}
    model = TypeAdapter(make_model(type_)).json_schema(mode=mode)
    return find_mismatches(
        model, schema_of_spec, is_result=is_result, has_values=has_values
    )


MATCHING = [
    (str, {"type": "string"}),
    (Any, LEVEL),
    (str, {}),
    (str | None, TEXT_OR_NULL),
    (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    (Level, LEVEL),
    (str, LEVEL),
    (Literal["low", "high"], LEVEL),
    (Level | None, {"enum": ["low", "high", None]}),
    (float, {"type": "number"}),
    (float, {"type": "integer"}),
    (Decimal, {"type": "number"}),
    (Decimal, {"type": "string", "format": "decimal"}),
    (int | str, {"type": ["string", "integer"]}),
    (date, DAY),
    (date, {"type": "string", "pattern": "^2026-"}),
    (str, DAY),
    (list[Part], PARTS),
    (list[Annotated[Part, Field()]] | None, PARTS),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
    (Tree, TREE),
    (Annotated[str, Field(max_length=9)], {"type": "string", "maxLength": 9}),
    (Annotated[str, Field(max_length=9)], {"type": "string", "maxLength": 4}),
    (Annotated[str, Field(max_length=3)], LEVEL),
    (Annotated[int, Field(ge=1)], {"type": "integer", "exclusiveMinimum": 0}),
    (set[str], {"type": "array", "items": {"type": "string"}}),
    (Base64Bytes, BYTES),
]
NOT_ACCEPTED = [
    (str, TEXT_OR_NULL, "`a` may be null, which the class does not accept"),
    (int, {"type": "string"}, "`a` is of type integer, but string in the spec"),
    (int, {"type": "number"}, "`a` is of type integer, but number in the spec"),
    (OneLevel, LEVEL, '`a` does not accept "high", which callers may send'),
    (Literal["low"], LEVEL, '`a` does not accept "high", which callers may send'),
    (
        Level,
        {"type": "string"},
        "`a` accepts only some values, but the spec has no `enum`",
    ),
    (date, {"type": "string"}, "`a` is of format date, but none in the spec"),
    (date, {**DAY, "format": "uuid"}, "`a` is of format date, but uuid in the spec"),
    (bytes, BYTES, "`a` is bytes, which requires `values: python`"),
    (list[PartLess], PARTS, "`a[]` has no `a[].name`, which callers may send"),
    (list[PartNeeds], PARTS, "`a[]` requires `a[].name`, which callers may omit"),
    (TreeOther, TREE, "`a.at` is of format uuid, but date in the spec"),
    (
        Annotated[str, Field(max_length=9)],
        {"type": "string", "maxLength": 10},
        "`a` has `maxLength: 9`, which the spec lacks",
    ),
    (
        Annotated[str, Field(pattern="^a")],
        {"type": "string"},
        '`a` has `pattern: "^a"`, which the spec lacks',
    ),
    (
        Annotated[list[int], Field(min_length=1)],
        {"type": "array"},
        "`a` has `minItems: 1`, which the spec lacks",
    ),
]
WITHOUT_VALUES = [
    (str, DAY, "`a` gets a Python date, which it does not accept"),
    (UUID, DAY, "`a` gets a Python date, which it does not accept"),
    (Base64Bytes, BYTES, "`a` gets a Python bytes, which it does not accept"),
]
NOT_ALLOWED = [
    (
        str | None,
        {"type": "string"},
        "`a` may be None, but `returns` does not allow null",
    ),
    (float, {"type": "integer"}, "`a` is of type number, but integer in the spec"),
    (Level, {"const": "low"}, '`a` may be "high", which `returns` does not allow'),
    (datetime, DAY, "`a` is of format date-time, but date in the spec"),
    (bytes, BYTES, "`a` is bytes, which requires `values: python`"),
]


@pytest.mark.parametrize(("type_", "schema"), MATCHING)
def test_arguments_type_that_accepts_every_spec_schema_value_has_no_mismatch(
    type_: Any, schema: Any
) -> None:
    """The `arguments_type` of a spec is the class that a handler receives."""
    assert not compare(type_, schema, is_result=False, has_values=False)


@pytest.mark.parametrize(("type_", "schema", "message"), NOT_ACCEPTED)
def test_arguments_type_that_accepts_fewer_values_than_the_spec_schema_is_reported(
    type_: Any, schema: Any, message: str
) -> None:
    assert compare(type_, schema, is_result=False, has_values=False) == [message]


@pytest.mark.parametrize(("type_", "schema", "message"), WITHOUT_VALUES)
def test_arguments_type_field_that_rejects_a_python_date_is_reported_under_values_python(
    type_: Any, schema: Any, message: str
) -> None:
    """Under `values: python` the class is given a date or bytes, not the JSON string."""
    assert compare(type_, schema, is_result=False, has_values=True) == [message]


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (date, "date"),
        (datetime, "date"),
        (datetime, "date-time"),
        (time, "time"),
        (timedelta, "duration"),
        (UUID, "uuid"),
        (bytes, "byte"),
        (int | date, "date"),
    ],
)
def test_arguments_type_with_a_formats_python_type_has_no_mismatch_under_values_python(
    type_: Any, name: str
) -> None:
    schema = {"type": "string", "format": name}
    assert not compare(type_, schema, is_result=False, has_values=True)


@pytest.mark.parametrize(("type_", "schema", "message"), NOT_ALLOWED)
def test_result_type_whose_instances_violate_the_returns_schema_is_reported(
    type_: Any, schema: Any, message: str
) -> None:
    """The `result_type` of a spec is the class that a handler returns."""
    assert compare(type_, schema, is_result=True, has_values=False) == [message]


@pytest.mark.parametrize(
    "type_", [Part, Tree, make_model(Level | None), make_model(list[Part] | str)]
)
@pytest.mark.parametrize("is_result", [False, True])
def test_class_compared_with_the_json_schema_generated_from_it_has_no_mismatch(
    type_: Any, is_result: bool
) -> None:
    mode: Any = "serialization" if is_result else "validation"
    schema = TypeAdapter(type_).json_schema(mode=mode)
    assert not find_mismatches(schema, schema, is_result=is_result, has_values=False)


class Child(PartLess):
    due: date | None = None


class Page(BaseModel, Generic[T]):
    n: T


@dataclass(slots=True, kw_only=True, frozen=True)
class Slots:
    n: int
    tags: list[str] = field(default_factory=list)


@dataclass
class Made:
    n: dataclasses.InitVar[int]


class Typed(TypedDict):
    n: int
    tags: NotRequired[list[str]]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)
    n: int
    due: date | None = None


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    n: int


class Table(RootModel[dict[str, int]]):
    pass


NUMBER: dict[str, Any] = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}


def build_model(
    class_: Any, *, has_values: bool = False, **more: Any
) -> ArgumentsModel:
    properties = {**NUMBER["properties"], **more}
    schema = {"type": "object", **NUMBER, "properties": properties}
    return ArgumentsModel(class_, schema, has_values=has_values)


@pytest.mark.parametrize(
    "class_", [PartLess, Child, Page[int], Slots, Made, Typed, Strict, Closed]
)
def test_argument_without_a_field_in_the_arguments_type_is_rejected_as_not_a_parameter(
    class_: Any,
) -> None:
    """As for handlers with keyword parameters, even if the schema accepts the argument."""
    model = build_model(class_)
    model.build({"n": 1})
    with pytest.raises(ArgumentConversionError) as refused:
        model.build({"n": 1, "limitt": 2})
    assert refused.value.problems == ["`limitt` is not a parameter"]


@pytest.mark.parametrize("class_", [Open, Table])
def test_arguments_type_with_extra_fields_receives_undeclared_arguments(
    class_: Any,
) -> None:
    assert build_model(class_).build({"n": 1, "other": 2}).model_dump()["other"] == 2


@pytest.mark.parametrize("has_values", [False, True])
def test_strict_pydantic_arguments_type_accepts_a_date_as_json_string_and_as_python_date(
    has_values: bool,
) -> None:
    arguments = {"n": 1, "due": date(2024, 2, 29) if has_values else "2024-02-29"}
    instance = build_model(Strict, has_values=has_values, due=DAY).build(arguments)
    assert instance == Strict(n=1, due=date(2024, 2, 29))


@pytest.mark.parametrize("class_", [Level, Page[str]])
def test_arguments_type_that_differs_from_the_spec_raises_value_error(
    class_: Any,
) -> None:
    with pytest.raises(ValueError, match=r"does not match the spec: .* is of type"):
        build_model(class_)


def test_pydantic_v1_model_as_arguments_type_raises_value_error() -> None:
    v1 = pytest.importorskip("pydantic.v1")
    old = type("Old", (v1.BaseModel,), {"__annotations__": {"n": int}})
    with pytest.raises(ValueError, match="Old is a model of pydantic"):
        build_model(old)


def test_arguments_type_validator_exception_text_is_in_no_error_and_no_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @dataclass
    class Refusing:
        n: int

        def __post_init__(self) -> None:
            raise ValueError("hunter2")

    with (
        caplog.at_level(logging.INFO),
        pytest.raises(ArgumentConversionError) as refused,
    ):
        build_model(Refusing).build({"n": 1})
    message = "the arguments match the schema, but the tool's class rejects them"
    assert refused.value.problems == [message]
    assert "value_error" in caplog.text and "hunter2" not in caplog.text

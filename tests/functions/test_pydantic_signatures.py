"""Signatures read by `new --from-function`, compared with pydantic's own schema."""

from __future__ import annotations

import ast
import json
import sys
import types
from typing import Any

import jsonschema_rs
import pydantic
import pytest

from toolcast.static_analysis.annotations import Fit
from toolcast.static_analysis.function_tool import (
    FunctionTool,
    FunctionToolError,
    read_function,
)
from toolcast.static_analysis.modules import PythonModule

MODULE = """\
import dataclasses, enum, typing
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Generic, List, Literal, NamedTuple, Optional, TypeVar, Union
import annotated_types
import pydantic
from annotated_types import Ge, Interval, Len
from pydantic import (
    AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, NegativeFloat,
    NegativeInt, NonPositiveFloat, NonPositiveInt, PositiveInt, StrictBool, StrictFloat,
    StrictInt, StrictStr, StringConstraints, conint, conlist, constr,
)
from pydantic.alias_generators import to_camel, to_pascal
from typing_extensions import NotRequired, TypedDict

T = TypeVar("T")
U = TypeVar("U", bound=int)
Name = Annotated[str, Field(min_length=1, description="A name.")]
Code = constr(pattern="^[A-Z]+$")
UserId = typing.NewType("UserId", str)
class Color(enum.Enum):
    '''One of two colors.'''
    RED = "red"
    BLUE = "blue"
class Point(NamedTuple):
    x: int
    y: int = 0
    label: str = "p"
@dataclass
class Order:
    '''An order of a customer.'''
    item: str
    count: int = 1
    tags: list[str] = field(default_factory=list)
class Line(BaseModel):
    '''One line.'''
    sku: str = Field(..., alias="stockKeepingUnit", examples=["a-1"])
    color: Color = Color.RED
    price: float = Field(1.5, ge=0, le=10, title="Price", deprecated=True)
    note: Optional[str] = Field(None, description="More.")
class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    a: int
class Open(BaseModel):
    model_config = {"extra": "allow"}
    a: int
class Inherited(Closed):
    b: str
class Keyword(BaseModel, extra="forbid"):
    a: int
class Old(BaseModel):
    a: int
    class Config:
        extra = "forbid"
class Camel(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
    first_name: str
    address_line_2: str = ""
    own: int = Field(1, alias="OWN")
class Pascal(BaseModel):
    model_config = ConfigDict(alias_generator=to_pascal)
    first_name: str
class Node(BaseModel):
    '''A node of a tree.'''
    value: int
    children: list["Node"] = []
    parent: Optional["Node"] = None
class Left(BaseModel):
    right: Optional["Right"] = None
class Right(BaseModel):
    left: Left
class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9
class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
Pet = Annotated[Union[Cat, Dog], Field(discriminator="kind")]
class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int = 0
class Pair(BaseModel, Generic[T, U]):
    first: T
    second: U
class Numbers(Page[int]):
    more: str = ""
class Sub(Page[T], Generic[T]):
    best: Optional[T] = None
@dataclass
class Box(Generic[T]):
    content: T
class Town(TypedDict):
    '''A town.'''
    name: str
    number: NotRequired[int]
@dataclass(frozen=True, kw_only=True)
class Frozen:
    a: int
    b: str = field(default="q", metadata={"k": 1}, compare=False)
class Sum(BaseModel):
    op: Literal["sum"]
    parts: list["Expression"]
class Number(BaseModel):
    op: Literal["number"]
    value: float
Expression = Annotated[Union[Sum, Number], Field(discriminator="op")]
class Dated(BaseModel):
    on: date
    count: int = 0
class Tree(TypedDict):
    name: str
    parts: NotRequired[list["Tree"]]
"""
SIGNATURES = """\
a: int = Field(..., gt=0, description="In years.")
a: int = Field(gt=0), b: int = Field(description="A number.")
a: int = Field(default=3), b: int = Field(3, ge=1, le=9), c: float = Field(1.5, multiple_of=0.5)
a: str = Field("x", min_length=1, max_length=5, pattern="^x")
a: str = Field("x", json_schema_extra={"format": "email"})
a: list[int] = Field(default_factory=list), b: dict[str, int] = Field(default_factory=dict, min_length=1)
a: list[int] = Field(default_factory=list, max_length=3, description="Some.")
a: Optional[int] = Field(None, ge=0), b: Optional[str] = Field(default=None, description="Perhaps.")
a: int | None = Field(..., description="Must be sent."), b: int = Field(deprecated=True)
a: int = Field(5, examples=[1, 2], title="Count")
a: Color = Field(Color.RED, description="The color."), b: Color = Color.BLUE
a: Annotated[int, Field(gt=0)] = Field(5, description="Both.")
a: Annotated[int, Field(gt=0, description="In Annotated.")] = 5
a: Annotated[int, Field(gt=0, description="First.")] = Field(5, description="Last.")
a: Annotated[int, Field(default=3)], b: Annotated[int, Field(default=3, ge=1)] = 7
a: Annotated[list[int], Field(default_factory=list)]
a: Annotated[str, Field(alias="from")], b: str = Field(alias="page-size")
a: str = Field("x", validation_alias="b", serialization_alias="c")
a: int = pydantic.Field(2, strict=True, frozen=True, repr=False)
a: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
a: Annotated[list[int], Len(1, 3)]
a: Annotated[int, Interval(ge=1, lt=5)], b: Annotated[int, Ge(2), annotated_types.Le(8)]
a: Annotated[str, AfterValidator(str.strip)], b: Annotated[int, BeforeValidator(int)] = 1
a: constr(min_length=1, max_length=4), b: conlist(int, min_length=1), c: conint(gt=1, le=5) = 3
a: Code, b: UserId, c: Name, d: list[Name] = Field(min_length=1)
a: Color
a: Point
a: list[Point]
a: Order
a: Order = Field(description="My order.")
a: Line
a: Line | None = None
a: list[Line] = Field(..., min_length=1)
a: Closed, b: Open, c: Inherited, d: Keyword, e: Old
a: Camel, b: Pascal
a: Node
a: Optional[Node] = Field(None, description="The root.")
a: Node, b: list[Node]
a: Left
a: Right
a: Pet
a: Union[Cat, Dog] = Field(discriminator="kind")
a: Union[Cat, Dog] = Field(..., discriminator="kind", description="A pet.")
a: list[Pet]
a: Page[int], b: Page[Line]
a: Page[Page[str]]
a: Page
a: Pair[str, int], b: Numbers, c: Box[int], d: Town, e: Frozen
a: Sub[str]
a: Sum
a: Expression
a: "Optional[Node]" = None
a: Annotated[list["Node"], Field(min_length=1)], b: int = Field(default=..., ge=1)
a: Sub[Sub[Color]]
a: Optional[constr(min_length=2)] = None, b: int = Field(3, gt=None)
a: Annotated[Optional[int], Field(description="d")] = Field(None, ge=3)
a: Tree
a: Literal["x", "y"] = Field("x", description="Which.")
a: Union[int, str] = Field(1), b: bool = Field(False)
a: dict[str, Line] = Field(default_factory=dict), b: tuple[int, str] = Field((1, "x"))
a: Any = Field(None, description="Anything.")
a: list[StrictInt] = Field(..., min_length=1), b: StrictInt = 3, c: StrictStr | None = None
a: StrictBool = False, b: StrictFloat = 0.5, c: PositiveInt = 5
a: NegativeInt = -2, b: NonPositiveInt = 0
a: Optional[NegativeFloat] = None, b: NonPositiveFloat = Field(-1.5)
*, a: int = 5, b: str = Field(description="Required after a default.")
a: int, *, b: Annotated[str, Field(description="One.")] = Field("x"), c: float = Field(...)
"""


def read(signature: str, docstring: str = "") -> FunctionTool:
    """Return the tool read from a function with this signature."""
    source = f"{MODULE}\ndef function({signature}):\n{docstring}    ...\n"
    parsed = PythonModule("signatures", "signatures.py", tree=ast.parse(source))
    return read_function({"signatures": parsed}.get, "signatures", "function")


def load(signature: str) -> tuple[FunctionTool, Any]:
    """Return the tool for a signature, and pydantic's schema of its arguments."""
    tool = read(signature)
    source = f"{MODULE}\ndef function({signature}): ...\n"
    module = sys.modules["signatures"] = types.ModuleType("signatures")
    exec(compile(source, "signatures", "exec", dont_inherit=True), module.__dict__)
    return tool, pydantic.TypeAdapter(module.__dict__["function"]).json_schema()


def normalize(schema: Any) -> Any:
    """Return a schema in one notation, without titles and repeated references."""
    definitions = schema.get("$defs", {})

    def resolve(value: Any, seen: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [resolve(item, seen) for item in value]
        if not isinstance(value, dict):
            return value
        value = dict(value)
        if "$ref" in value:
            name = value.pop("$ref").rpartition("/")[2]
            if name in seen:
                return {"circle": True}
            return resolve({**definitions[name], **value}, (*seen, name))
        for key in ("title", "discriminator", "$defs"):
            value.pop(key, None)
        if "const" in value:
            value["enum"] = [value.pop("const")]
        if "description" in value:
            value["description"] = " ".join(value["description"].split())
            if value["description"].startswith("TODO"):
                del value["description"]
        types_ = value.get("type")
        if isinstance(types_, list):
            rest = {k: v for k, v in value.items() if k not in ("type", "default")}
            outer = {k: rest.pop(k) for k in ("description", "examples") if k in rest}
            members = [{"type": t, **({} if t == "null" else rest)} for t in types_]
            for member in members:
                if "enum" in member:
                    member["enum"] = [v for v in member["enum"] if v is not None]
            default = {k: value[k] for k in ("default",) if k in value}
            value = {"anyOf": members, **outer, **default}
        if value.get("default", 0) is None and value.get("type"):
            del value["default"]
        if value.get("items") == {}:
            del value["items"]
        result = {key: resolve_part(key, part, seen) for key, part in value.items()}
        # The description of a class can be inside or outside of an optional type.
        members = result.get("anyOf", [])
        if {"type": "null"} in members and len(members) == 2:
            for member in members:
                text = member.pop("description", None)
                if text is not None:
                    result.setdefault("description", text)
        return result

    def resolve_part(key: str, part: Any, seen: tuple[str, ...]) -> Any:
        if key in ("default", "enum", "examples"):
            return part
        if key == "properties":
            return {name: resolve(item, seen) for name, item in part.items()}
        return resolve(part, seen)

    return resolve(schema, ())


@pytest.mark.parametrize("signature", SIGNATURES.splitlines())
def test_signature_schema_equals_pydantics_schema(signature: str) -> None:
    tool, expected = load(signature)
    schema = tool.parameters
    assert normalize(schema) == normalize(expected), json.dumps(schema)
    assert jsonschema_rs.validator_for(tool.parameters)


@pytest.mark.parametrize(
    ("signature", "fit"),
    [
        ("a: int = Field(..., gt=0)", Fit.PLAIN),
        ("a: int = Field(description='x')", Fit.PLAIN),
        ("a: int = Field(3)", Fit.CONVERTED),
        ("a: list[int] = Field(default_factory=list)", Fit.CONVERTED),
        ("a: Annotated[int, Field(default=3)]", Fit.CONVERTED),
        ("a: int = Field(alias='b')", Fit.CONVERTED),
        ("a: Town", Fit.NARROW),
        ("a: Point", Fit.CONVERTED),
        ("a: Order", Fit.CONVERTED),
        ("a: list[Order], b: Town", Fit.CONVERTED),
    ],
)
def test_field_default_alias_or_class_requires_conversion(
    signature: str, fit: Fit
) -> None:
    """A direct call would pass the `FieldInfo` as the value of an omitted argument."""
    assert load(signature)[0].fit is fit


@pytest.mark.parametrize(
    "annotation",
    [
        "{}",
        "list[{}]",
        "dict[str, {}]",
        "tuple[{}, int]",
        "{} | None",
        "{} | int",
        "Union[{}, Any]",
        "Union[list[{}], int]",
        "conlist({})",
        "Annotated[{}, Field(description='x')]",
        "Box[{}]",
    ],
)
def test_only_an_annotation_that_contains_a_date_requires_python_values(
    annotation: str,
) -> None:
    needs = [
        read(f"a: {annotation.format(name)}, b: int").needs_python_values
        for name in ("date", "Dated", "int")
    ]
    assert needs == [True, True, False]


@pytest.mark.parametrize(
    "default",
    ["Order.count", "Color.GREEN", "date.min", "unknown.a", "Color.RED.value"],
)
def test_default_that_is_no_literal_or_enum_member_is_omitted(default: str) -> None:
    tool = read(f"a: int = {default}")
    assert "default" not in tool.parameters["properties"]["a"]
    note = f"the default of `a` is omitted: `{default}` is not a literal"
    assert tool.notes[-1].endswith(note)


@pytest.mark.parametrize("first", ["a: int = Field(3)", "a: Color = Color.RED"])
def test_required_parameter_after_an_optional_one_is_rejected(first: str) -> None:
    with pytest.raises(FunctionToolError) as caught:
        read(f"{first}, b: int = Field(gt=0)")
    assert "`b` is required, and follows `a`" in caught.value.reasons[0][0]
    assert read(f"*, {first}, b: int = Field(gt=0)").fit is Fit.CONVERTED


@pytest.mark.parametrize(
    "docstring",
    [
        "\n    Args:\n        a: The number.\n    ",
        "Args:\n        a (int): The number.\n\n    Returns:\n        It.",
        "\n    Parameters\n    ----------\n    a : int\n        The number.\n",
        ":param a: The number.",
        "Arguments:\n        a: The\n            number.",
        "Returns:\n        It.\n\n    Args:\n        a: The number.",
    ],
)
def test_docstring_needs_no_summary_line(docstring: str) -> None:
    tool = read("a: int", f'    """{docstring}"""\n')
    assert tool.parameters["properties"]["a"]["description"] == "The number."
    assert tool.docstring.text == ""


def test_field_description_overrides_docstring_and_class() -> None:
    body = '    """Text.\n\n    Args:\n        a: Docstring.\n        b: Docstring.\n    """\n'
    signature = "a: Closed, b: Order = Field(description='Field.'), c: Order = None"
    tool = read(signature, body)
    texts = [p["description"] for p in tool.parameters["properties"].values()]
    assert texts == ["Docstring.", "Field.", "An order of a customer."]


@pytest.mark.parametrize(
    "field", ["Field(gt=0)", "Field(...)", "Field(default=...)", "..."]
)
def test_required_parameter_with_an_unknown_type_is_rejected(field: str) -> None:
    with pytest.raises(FunctionToolError, match="has no JSON Schema"):
        read(f"a: Missing = {field}")
    assert not read("a: Missing = Field(None)").accepts_all


def test_first_alias_is_the_parameter_name() -> None:
    tool = read('a: int = Field(validation_alias=pydantic.AliasChoices("b", "c"))')
    assert tool.parameters["required"] == ["b"]

"""Property tests of signatures: the schema accepts what the function accepts.

Functions are generated with matching arguments, read from their source, and compared
with pydantic's validation of the imported function.
"""

from __future__ import annotations

import ast
import sys
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jsonschema_rs
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.static_analysis.function_tool import (
    FunctionTool,
    FunctionToolError,
    read_function,
)
from toolcast.static_analysis.modules import PythonModule


class Typed(NamedTuple):
    """The source of an annotation, and a strategy for JSON values that it accepts."""

    text: str
    values: st.SearchStrategy[Any]


BEGIN = """\
import dataclasses, enum, pathlib, typing as t, uuid
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Annotated, Literal, NotRequired, Optional, TypedDict, Union
import pydantic
class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"
class Level(enum.IntEnum):
    LOW = enum.auto()
    HIGH = enum.auto()
class Place(TypedDict, total=False):
    town: t.Required[str]
    number: int
@dataclass
class Order:
    item: str
    count: int = 1
    tags: list[str] = field(default_factory=list)
class Line(pydantic.BaseModel):
    sku: Annotated[str, pydantic.Field(min_length=1)]
    colour: Optional[Colour] = None
    note: Optional[str] = pydantic.Field(None, description="More.")
    place: str = pydantic.Field(..., max_length=9)
Digit = Annotated[int, pydantic.Field(ge=0, le=9)]
"""
TEXT = st.text("ab é\"'#:\n", max_size=4)
NUMBER = st.integers(-5, 20)
COLOR = st.sampled_from(["red", "blue"])


def record(required: dict[str, Any], optional: dict[str, Any]) -> Any:
    return st.fixed_dictionaries(required, optional=optional)


PLAIN = [
    Typed("str", TEXT),
    Typed("int", NUMBER),
    Typed("float", st.floats(-9, 9) | NUMBER),
    Typed("bool", st.booleans()),
    Typed("None", st.none()),
    Typed("date", st.dates().map(str)),
    Typed("uuid.UUID", st.uuids().map(str)),
    Typed("pathlib.Path", TEXT),
    Typed("timedelta", st.sampled_from(["P1D", "PT5M"])),
    Typed("Colour", COLOR),
    Typed("set[str]", st.lists(TEXT, unique=True, max_size=3)),
    Typed("Level", st.sampled_from([1, 2])),
    Typed("Digit", st.integers(0, 9)),
    Typed("Literal['a', 'b', 3]", st.sampled_from(["a", "b", 3])),
    Typed("Literal[True, 2]", st.sampled_from([True, 2])),
    Typed(
        "Annotated[str | None, pydantic.Field(max_length=3)]",
        st.none() | TEXT.map(lambda t: t[:3]),
    ),
    Typed(
        "Annotated[Optional[list[int]], pydantic.Field(..., min_length=1)]",
        st.none() | st.lists(NUMBER, min_size=1, max_size=2),
    ),
    Typed("'Order'", record({"item": TEXT}, {"count": NUMBER, "tags": st.lists(TEXT)})),
    Typed("Place", record({"town": TEXT}, {"number": NUMBER})),
    Typed(
        "Line",
        record(
            {"sku": TEXT.filter(bool), "place": TEXT},
            {"colour": COLOR | st.none(), "note": TEXT | st.none()},
        ),
    ),
]


def combine_annotations(types_: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    def wrap(form: str, make: Callable[..., Any], count: int = 1) -> Any:
        """Return types of a form with one or two item types."""
        return st.tuples(*[types_] * count).map(
            lambda items: Typed(
                form.format(*(item.text for item in items)),
                make(*(item.values for item in items)),
            )
        )

    return st.one_of(
        wrap("list[{}]", lambda values: st.lists(values, max_size=3)),
        wrap("dict[str, {}]", lambda values: st.dictionaries(TEXT, values)),
        wrap("Optional[{}]", lambda values: values | st.none()),
        wrap("tuple[{}, ...]", lambda values: st.lists(values, max_size=2)),
        wrap("tuple[{}, {}]", lambda a, b: st.tuples(a, b).map(list), 2),
        wrap("Union[{}, {}]", lambda a, b: a | b, 2),
    )


TYPES = st.recursive(st.sampled_from(PLAIN), combine_annotations, max_leaves=4)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | st.floats(-9, 9) | TEXT | COLOR,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner),
    max_leaves=3,
)


def read(text: str) -> FunctionTool:
    tree = ast.parse(text)
    module = PythonModule("m", "m.py", tree=tree)
    return read_function({"m": module}.get, "m", "function")


@dataclass(frozen=True)
class GeneratedFunction:
    """A tool read from a function, and the function itself, validated by pydantic."""

    tool: FunctionTool
    call: Callable[..., Any]


def make_function(annotations: list[str]) -> GeneratedFunction:
    parameters = ", ".join(f"p{n}: {text}" for n, text in enumerate(annotations))
    text = f"{BEGIN}def function({parameters}):\n    return True\n"
    # Before Python 3.12, pydantic requires the TypedDict of typing_extensions.
    text = text.replace("NotRequired, Optional, TypedDict", "NotRequired, Optional")
    extension = "import pydantic\nfrom typing_extensions import TypedDict\n"
    text = text.replace("import pydantic\n", extension, 1)
    # pydantic resolves quoted annotations in this module.
    module = sys.modules["made"] = types.ModuleType("made")
    exec(compile(text, "made", "exec", dont_inherit=True), module.__dict__)
    call = pydantic.validate_call(module.__dict__["function"])
    return GeneratedFunction(read(text), call)


def is_valid(schema: Any, value: Any) -> bool:
    return jsonschema_rs.is_valid(schema, value, validate_formats=True)


@limit_examples(200)
@given(st.lists(TYPES, min_size=1, max_size=3), st.data())
def test_annotated_type_values_are_valid_for_the_generated_schema(
    annotations: list[Typed], data: Any
) -> None:
    function = make_function([annotation.text for annotation in annotations])
    arguments = {f"p{n}": data.draw(a.values) for n, a in enumerate(annotations)}
    assert is_valid(function.tool.parameters, arguments), function.tool.parameters
    assert function.call(**arguments)


@limit_examples(300)
@given(TYPES, JSON)
def test_function_call_accepts_arguments_valid_for_the_generated_schema(
    annotation: Typed, value: Any
) -> None:
    function = make_function([annotation.text])
    if is_valid(function.tool.parameters, {"p0": value}):
        assert function.call(p0=value)


@pytest.mark.parametrize(
    ("annotation", "error"),
    [
        ("Literal[1.5]", "`1.5` is not a valid value of a `Literal`"),
        ("Literal[{}]", "`{}` is not a valid value of a `Literal`"),
        ("Literal['\\ud800']", "`'\\ud800'` is not a JSON value"),
        (f"'{'int or ' * 9}'", f"`{('int or ' * 9)[:60]}` is not a valid Python type"),
        ("list[...]", "`builtins.list` of `...` has no item type"),
        ("dict[...]", "`builtins.dict` of `...` has no item type"),
        ("tuple[...]", "`builtins.tuple` of `...` has no item type"),
        ("Union[...]", "`typing.Union` of `...` has no item type"),
    ],
)
def test_annotation_without_a_json_type_is_rejected_with_its_text(
    annotation: str, error: str
) -> None:
    with pytest.raises(FunctionToolError) as caught:
        read(f"{BEGIN}def function(a: {annotation}): ...")
    assert error in str(caught.value)


@pytest.mark.parametrize("other_parameters", ["", ", *, b: int", ", b: int = 2"])
def test_positional_only_parameter_is_rejected(other_parameters: str) -> None:
    with pytest.raises(FunctionToolError) as caught:
        read(f"def function(a: int = 1, /{other_parameters}): ...")
    assert "`a` is positional-only" in str(caught.value)


DEEP = {
    "attributes": "t" + ".a" * 900,
    "calls": "f(" * 80 + ")" * 80,
    "a union": " | ".join(["int"] * 900),
    "an unknown union": " | ".join(["Absent"] * 900),
    "brackets": "list[" * 80 + "int" + "]" * 80,
}


@pytest.mark.parametrize("annotation", DEEP.values(), ids=DEEP)
def test_deeply_nested_annotation_is_rejected(annotation: str) -> None:
    with pytest.raises(FunctionToolError):
        read(f"{BEGIN}def function(a: {annotation}) -> {annotation}: ...")


def test_exponential_class_hierarchy_is_rejected_quickly() -> None:
    classes = "".join(
        f"@dataclass\nclass C{n}({', '.join([f'C{n + 1}'] * 9)}):\n    x{n}: int\n"
        for n in range(11)
    )
    started = time.process_time()
    with pytest.raises(FunctionToolError):
        read(f"{BEGIN}{classes}class C11: ...\ndef function(a: C0): ...")
    assert time.process_time() - started < 5

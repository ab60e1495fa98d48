"""For any signature: callers may send what the function takes, and nothing else.

Sources of functions are made with arguments that fit, read by their text alone, and held to
what pydantic makes of the live function.
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

from tests.properties import tried
from toolcast.static_analysis.function_tool import (
    FunctionTool,
    FunctionToolError,
    read_function,
)
from toolcast.static_analysis.modules import PythonModule


class Of(NamedTuple):
    """An annotation, and the JSON values that it takes."""

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
COLOUR = st.sampled_from(["red", "blue"])


def record(needed: dict[str, Any], more: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(needed, optional=more)


PLAIN = [
    Of("str", TEXT),
    Of("int", NUMBER),
    Of("float", st.floats(-9, 9) | NUMBER),
    Of("bool", st.booleans()),
    Of("None", st.none()),
    Of("date", st.dates().map(str)),
    Of("uuid.UUID", st.uuids().map(str)),
    Of("pathlib.Path", TEXT),
    Of("timedelta", st.sampled_from(["P1D", "PT5M"])),
    Of("Colour", COLOUR),
    Of("set[str]", st.lists(TEXT, unique=True, max_size=3)),
    Of("Level", st.sampled_from([1, 2])),
    Of("Digit", st.integers(0, 9)),
    Of("Literal['a', 'b', 3]", st.sampled_from(["a", "b", 3])),
    Of("Literal[True, 2]", st.sampled_from([True, 2])),
    Of(
        "Annotated[str | None, pydantic.Field(max_length=3)]",
        st.none() | TEXT.map(lambda t: t[:3]),
    ),
    Of(
        "Annotated[Optional[list[int]], pydantic.Field(..., min_length=1)]",
        st.none() | st.lists(NUMBER, min_size=1, max_size=2),
    ),
    Of("'Order'", record({"item": TEXT}, {"count": NUMBER, "tags": st.lists(TEXT)})),
    Of("Place", record({"town": TEXT}, {"number": NUMBER})),
    Of(
        "Line",
        record(
            {"sku": TEXT.filter(bool), "place": TEXT},
            {"colour": COLOUR | st.none(), "note": TEXT | st.none()},
        ),
    ),
]


def several(inner: st.SearchStrategy[Of]) -> st.SearchStrategy[Of]:
    return st.one_of(
        inner.map(lambda a: Of(f"list[{a.text}]", st.lists(a.values, max_size=3))),
        inner.map(
            lambda a: Of(f"dict[str, {a.text}]", st.dictionaries(TEXT, a.values))
        ),
        inner.map(lambda a: Of(f"Optional[{a.text}]", a.values | st.none())),
        inner.map(
            lambda a: Of(f"tuple[{a.text}, ...]", st.lists(a.values, max_size=2))
        ),
        st.tuples(inner, inner).map(
            lambda p: Of(
                f"tuple[{p[0].text}, {p[1].text}]",
                st.tuples(p[0].values, p[1].values).map(list),
            )
        ),
        st.tuples(inner, inner).map(
            lambda p: Of(f"Union[{p[0].text}, {p[1].text}]", p[0].values | p[1].values)
        ),
    )


TYPES = st.recursive(st.sampled_from(PLAIN), several, max_leaves=4)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | st.floats(-9, 9) | TEXT | COLOUR,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner),
    max_leaves=3,
)


def read(text: str) -> FunctionTool:
    tree = ast.parse(text)
    module = PythonModule("m", "m.py", tree=tree)
    return read_function({"m": module}.get, "m", "function")


@dataclass(frozen=True)
class Made:
    """A function, as text and as pydantic takes it."""

    tool: FunctionTool
    call: Callable[..., Any]


def made(annotations: list[str]) -> Made:
    parameters = ", ".join(f"p{n}: {text}" for n, text in enumerate(annotations))
    text = f"{BEGIN}def function({parameters}):\n    return True\n"
    # Before Python 3.12 pydantic has no TypedDict of typing.
    text = text.replace("NotRequired, Optional, TypedDict", "NotRequired, Optional")
    text = text.replace(
        "import pydantic\n",
        "import pydantic\nfrom typing_extensions import TypedDict\n",
        1,
    )
    # Where pydantic looks for what a text in quotes names.
    module = sys.modules["made"] = types.ModuleType("made")
    exec(compile(text, "made", "exec", dont_inherit=True), module.__dict__)
    return Made(read(text), pydantic.validate_call(module.__dict__["function"]))


def is_taken(schema: Any, value: Any) -> bool:
    return jsonschema_rs.is_valid(schema, value, validate_formats=True)


@tried(200)
@given(st.lists(TYPES, min_size=1, max_size=3), st.data())
def test_what_fits_the_annotations_is_taken(given_types: list[Of], data: Any) -> None:
    function = made([one.text for one in given_types])
    sent = {f"p{n}": data.draw(one.values) for n, one in enumerate(given_types)}
    assert is_taken(function.tool.parameters, sent), function.tool.parameters
    assert function.call(**sent)


@tried(300)
@given(TYPES, JSON)
def test_what_is_taken_fits_the_function(of: Of, value: Any) -> None:
    function = made([of.text])
    if is_taken(function.tool.parameters, {"p0": value}):
        assert function.call(p0=value)


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        ("Literal[1.5]", "`1.5` is not a valid value of a `Literal`"),
        ("Literal[{}]", "`{}` is not a valid value of a `Literal`"),
        ("Literal['\\ud800']", "`'\\ud800'` is not a JSON value"),
        ("list[...]", "`builtins.list` of `...` has no item type"),
        ("dict[...]", "`builtins.dict` of `...` has no item type"),
        ("tuple[...]", "`builtins.tuple` of `...` has no item type"),
        ("Union[...]", "`typing.Union` of `...` has no item type"),
    ],
)
def test_what_no_value_can_be_of_is_told(annotation: str, says: str) -> None:
    with pytest.raises(FunctionToolError) as refused:
        read(f"{BEGIN}def function(a: {annotation}): ...")
    assert says in str(refused.value)


@pytest.mark.parametrize("more", ["", ", *, b: int", ", b: int = 2"])
def test_a_default_before_a_slash_is_refused_like_any_argument_there(more: str) -> None:
    with pytest.raises(FunctionToolError) as refused:
        read(f"def function(a: int = 1, /{more}): ...")
    assert "`a` is positional-only" in str(refused.value)


DEEP = {
    "attributes": "t" + ".a" * 900,
    "calls": "f(" * 80 + ")" * 80,
    "a union": " | ".join(["int"] * 900),
    "an unknown union": " | ".join(["Absent"] * 900),
    "brackets": "list[" * 80 + "int" + "]" * 80,
}


@pytest.mark.parametrize("annotation", DEEP.values(), ids=DEEP)
def test_what_is_nested_deep_is_told_and_no_traceback(annotation: str) -> None:
    with pytest.raises(FunctionToolError):
        read(f"{BEGIN}def function(a: {annotation}) -> {annotation}: ...")


def test_bases_that_lead_to_each_other_in_many_ways_cost_no_time() -> None:
    classes = "".join(
        f"@dataclass\nclass C{n}({', '.join([f'C{n + 1}'] * 9)}):\n    x{n}: int\n"
        for n in range(11)
    )
    begun = time.monotonic()
    with pytest.raises(FunctionToolError):
        read(f"{BEGIN}{classes}class C11: ...\ndef function(a: C0): ...")
    assert time.monotonic() - begun < 5

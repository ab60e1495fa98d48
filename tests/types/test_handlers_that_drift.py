"""What a type checker says of handlers that do not fit their spec, and of their callers.

`# error:` behind a function is what is said of it: each names the handler and the parameter.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

SPEC = """
summary: Search orders.
parameters:
  type: object
  additionalProperties: false
  required: [customer]
  properties:
    customer: {type: string}
    states: {type: array, items: {enum: [open, paid]}}
    price:
      type: object
      required: [least]
      properties: {least: {type: number}, currency: {type: string}}
returns:
  type: object
  required: [orders]
  properties:
    orders:
      type: array
      items: {type: object, required: [id], properties: {id: {type: string}}}
handler: handlers.toy:HANDLER
"""
RIGHT = "def NAME(*, customer: str, states: object = None, price: object = None) -> dict[str, Any]: ...\n"
HANDLERS = """
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from generated.toy.tools.generated_types import (
    GeneratedTypesPrice,
    GeneratedTypesResult,
)
from toolcast_runtime import ToolResponse


class Price(TypedDict):
    least: float


class Order(TypedDict):
    id: str
    note: str


class Orders(TypedDict):
    orders: list[Order]


class NumberedOrder(TypedDict):
    id: int


class NumberedOrders(TypedDict):
    orders: list[NumberedOrder]


class Cents(TypedDict):
    least: str


class Given(TypedDict):
    customer: int


def generated_types(
    *, customer: str, states: Sequence[Literal["open", "paid"]] = (),
    price: GeneratedTypesPrice | None = None,
) -> GeneratedTypesResult:
    raise NotImplementedError


async def own_types(
    customer: str, states: Sequence[str] = (), price: Price | None = None
) -> Orders:
    raise NotImplementedError


def plain_types(
    *, customer: str, states: Sequence[str] = (), price: Mapping[str, Any] | None = None
) -> dict[str, Any] | ToolResponse:
    raise NotImplementedError


def any_keywords(**arguments: Any) -> Any:
    raise NotImplementedError


def one_mapping(arguments: Mapping[str, Any], /) -> Orders:
    raise NotImplementedError


def one_dict(arguments: dict[str, Any]) -> dict[str, Any]:
    raise NotImplementedError


def lacks_one(*, customer: str, states: Sequence[str] = ()) -> Orders:
    raise NotImplementedError  # error: Extra argument "price" from **args for "lacks_one"


def has_more(
    *, customer: str, states: Sequence[str] = (), price: Price | None = None, page: int
) -> Orders:
    raise NotImplementedError  # error: Missing named argument "page" for "has_more"


def needs_states(
    *, customer: str, states: Sequence[str], price: Price | None = None
) -> Orders:
    raise NotImplementedError  # error: Missing named argument "states" for "needs_states"


def wrong_type(
    *, customer: int, states: Sequence[str] = (), price: Price | None = None
) -> Orders:
    raise NotImplementedError  # error: Argument "customer" to "wrong_type"


def wrong_in_depth(
    *, customer: str, states: Sequence[str] = (), price: Cents | None = None
) -> Orders:
    raise NotImplementedError  # error: Argument "price" to "wrong_in_depth"


def array_of_enums(
    *,
    customer: str,
    states: Sequence[Literal["open"]] = (),
    price: Price | None = None,
) -> Orders:
    raise NotImplementedError  # error: Argument "states" to "array_of_enums"


def one_typed(arguments: Given) -> Orders:
    raise NotImplementedError  # error: Extra argument "customer" from **args for "one_typed"


def wrong_result(
    *, customer: str, states: Sequence[str] = (), price: Price | None = None
) -> NumberedOrders:
    raise NotImplementedError  # error: Argument 1 to "result_of_wrong_result"


async def no_result(
    *, customer: str, states: Sequence[str] = (), price: Price | None = None
) -> str:
    raise NotImplementedError  # error: Argument 1 to "result_of_no_result"
"""
CALLER = """
from generated.toy.tools import own_types


async def called() -> None:
    found = await own_types.call(customer="a", states=["open"], price={"least": 1})
    reveal_type(found["orders"][0]["id"])
    await own_types.call(states=["open"])
    await own_types.call(customer="a", states=["lost"])
    await own_types.call(customer="a", price={"most": 1})
    await own_types.call(customer="a", page=1)
"""
NAMES = re.findall(r"^(?:async )?def (\w+)", HANDLERS, re.MULTILINE)
SAID = {
    name: re.findall("# error: (.*)", body)
    for name, body in re.findall(
        r"^(?:async )?def (\w+)(.*?)\n\n\n", HANDLERS + "\n\n", re.MULTILINE | re.DOTALL
    )
}


@pytest.fixture
def said(make_project: Callable[..., Any]) -> str:
    """What mypy says of all of them."""
    project = make_project(
        {name: SPEC.replace("HANDLER", name) for name in NAMES},
        toolset="targets: {registry: {}}\n",
        handlers="from typing import Any\n"
        + "".join(RIGHT.replace("NAME", name) for name in NAMES),
    )
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    project.write("caller.py", CALLER)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases"]
    return subprocess.run(
        [*mypy, "--cache-dir", str(project.root / ".mypy"), "generated", "caller.py"],
        cwd=project.root,
        capture_output=True,
        encoding="utf-8",
    ).stdout


@pytest.mark.slow
def test_a_type_checker_names_handler_and_parameter(said: str) -> None:
    assert sum(map(bool, SAID.values())) == 9
    for name, expected in SAID.items():
        found = re.findall(
            rf"^generated/toy/tools/{name}\.py:\d+: error: (.*)", said, re.M
        )
        assert bool(found) == bool(expected), (name, found)
        assert all(f'{name}"' in line for line in found), (name, found)
        for start in expected:
            assert any(line.startswith(start) for line in found), (name, found)
    callers = re.findall(r"^caller\.py:\d+: (.*)", said, re.MULTILINE)
    starts = [
        'note: Revealed type is "str"',
        'error: Missing named argument "customer" for "call"',
        "error: List item 0 has incompatible type \"Literal['lost']\"",
        'error: Missing key "least" for TypedDict "OwnTypesPrice"',
        'error: Extra key "most" for TypedDict "OwnTypesPrice"',
        'error: Unexpected keyword argument "page" for "call"',
    ]
    left = [start for start in starts if not any(c.startswith(start) for c in callers)]
    assert not left, callers

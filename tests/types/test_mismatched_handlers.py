"""mypy's errors for handlers and callers that do not match their specs.

`# error:` after a function is an expected error; each names the handler and the
parameter.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.mcp.projects import generate_project

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
handler: handlers.MODULE:HANDLER
"""
PLAIN = """
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


def build_enum_array(
    *,
    customer: str,
    states: Sequence[Literal["open"]] = (),
    price: Price | None = None,
) -> Orders:
    raise NotImplementedError  # error: Argument "states" to "build_enum_array"


def one_typed(arguments: Given) -> Orders:
    raise NotImplementedError  # error: Extra argument "customer" from **args for "one_typed"


def wrong_result(
    *, customer: str, states: Sequence[str] = (), price: Price | None = None
) -> NumberedOrders:
    raise NotImplementedError  # error: Argument 1 to "check_wrong_result_result"


async def no_result(
    *, customer: str, states: Sequence[str] = (), price: Price | None = None
) -> str:
    raise NotImplementedError  # error: Argument 1 to "check_no_result_result"
"""
WITH_DEPENDENCIES = """
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from handlers.app import Cache, Database


def lent(
    *, customer: str, states: object = None, price: object = None, db: Database
) -> dict[str, Any]:
    raise NotImplementedError


def lent_beside_one_mapping(
    arguments: Mapping[str, Any], *, db: Database
) -> dict[str, Any]:
    raise NotImplementedError


def takes_no_db(
    *, customer: str, states: object = None, price: object = None
) -> dict[str, Any]:
    raise NotImplementedError  # error: Unexpected keyword argument "db" for "takes_no_db"


def takes_another(
    *, customer: str, states: object = None, price: object = None, db: Cache
) -> dict[str, Any]:
    raise NotImplementedError  # error: Argument "db" to "takes_another"


def takes_two(
    *, customer: str, states: object = None, price: object = None, db: Database, cache: Cache
) -> dict[str, Any]:
    raise NotImplementedError  # error: Missing named argument "cache" for "takes_two"


def wrong_beside_db(
    *, customer: str, states: Sequence[int] = (), price: object = None, db: Database
) -> dict[str, Any]:
    raise NotImplementedError  # error: Argument "states" to "wrong_beside_db"
"""
DATES_SPEC = """
summary: Count days.
values: python
parameters:
  type: object
  additionalProperties: false
  required: [day]
  properties:
    day: {type: string, format: date}
    more: {type: array, items: {type: string, format: date}}
returns:
  type: object
  required: [next]
  properties: {next: {type: string, format: date}}
handler: handlers.MODULE:HANDLER
"""
DATES = """
from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TypedDict


class Next(TypedDict):
    next: date


class NextText(TypedDict):
    next: str


def dates(*, day: date, more: Sequence[date] = ()) -> Next:
    raise NotImplementedError


def takes_text(*, day: str, more: Sequence[date] = ()) -> Next:
    raise NotImplementedError  # error: Argument "day" to "takes_text"


def takes_texts(*, day: date, more: Sequence[str] = ()) -> Next:
    raise NotImplementedError  # error: Argument "more" to "takes_texts"


def gives_text(*, day: date, more: Sequence[date] = ()) -> NextText:
    raise NotImplementedError  # error: Argument 1 to "check_gives_text_result"
"""
CLASSES_SPEC = SPEC.replace(
    "handler:",
    "arguments_type: handlers.app:Search\nresult_type: handlers.app:Found\nuses: [db]\nhandler:",
)
CLASSES = """
from __future__ import annotations

from handlers.app import Database, Found, Search


def own_classes(search: Search, *, db: Database) -> Found:
    raise NotImplementedError


def takes_other_class(search: Found, *, db: Database) -> Found:
    raise NotImplementedError  # error: Argument 1 to "takes_other_class" has incompatible type "Search"; expected "Found"


def class_without_db(search: Search) -> Found:
    raise NotImplementedError  # error: Unexpected keyword argument "db" for "class_without_db"


def class_and_more(search: Search, page: int, *, db: Database) -> Found:
    raise NotImplementedError  # error: Missing positional argument "page" in call to "class_and_more"


def gives_other_class(search: Search, *, db: Database) -> Search:
    raise NotImplementedError  # error: Argument 1 to "check_gives_other_class_result" has incompatible type "Search"; expected "Found
"""
APP = """
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


class Database: ...


class Cache: ...


@dataclass
class Search:
    customer: str
    states: Sequence[str] = ()
    price: Mapping[str, object] = field(default_factory=dict)


@dataclass
class Found:
    orders: Sequence[Mapping[str, str]]


@contextmanager
def lifespan() -> Iterator[dict[str, object]]:
    yield {"db": Database()}
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
MODULES = {
    "plain": (SPEC, PLAIN),
    "lent": (SPEC + "uses: [db]\n", WITH_DEPENDENCIES),
    "dates": (DATES_SPEC, DATES),
    "classes": (CLASSES_SPEC, CLASSES),
}
EXPECTED_ERRORS = {
    module: {
        name: re.findall("# error: (.*)", body)
        for name, body in re.findall(
            r"^(?:async )?def (\w+)(.*?)(?=\n\n\n|\Z)", text, re.MULTILINE | re.DOTALL
        )
    }
    for module, (_, text) in MODULES.items()
}


@pytest.fixture
def mypy_output(make_project: Callable[..., Any], mypy_cache: str) -> str:
    """Return mypy's output for all handlers and their callers."""
    project = make_project(
        {
            name: MODULES[module][0].replace("MODULE:HANDLER", f"{module}:{name}")
            for module, names in EXPECTED_ERRORS.items()
            for name in names
        },
        toolset="targets: {registry: {}}\nlifespan: handlers.app:lifespan\n"
        "dependencies: {db: handlers.app:Database}\n",
    )
    # `generate_project` skips the checks, which would report most of these handlers.
    generate_project(project.root)
    for module, (_, text) in MODULES.items():
        project.write(f"handlers/{module}.py", text)
    project.write("handlers/app.py", APP)
    project.write("caller.py", CALLER)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases"]
    return subprocess.run(
        [*mypy, "--cache-dir", mypy_cache, "generated", "caller.py"],
        cwd=project.root,
        capture_output=True,
        encoding="utf-8",
    ).stdout


@pytest.mark.slow
def test_mypy_names_the_mismatched_handler_and_parameter(mypy_output: str) -> None:
    wrong = [sum(map(bool, of_names.values())) for of_names in EXPECTED_ERRORS.values()]
    assert wrong == [9, 4, 3, 4]
    for name, expected in {
        k: v for errors in EXPECTED_ERRORS.values() for k, v in errors.items()
    }.items():
        pattern = rf"^generated/toy/tools/{name}\.py:\d+: error: (.*)"
        found = re.findall(pattern, mypy_output, re.MULTILINE)
        error = name, found
        assert bool(found) == bool(expected), error
        assert all(re.search(rf'{name}(_result)?"', line) for line in found), error
        for start in expected:
            assert any(line.startswith(start) for line in found), error
    others = re.findall(
        r"^(?!generated/toy/tools/|caller).*: error: .*", mypy_output, re.M
    )
    assert not [line for line in others if "[empty-body]" not in line]
    callers = re.findall(r"^caller\.py:\d+: (.*)", mypy_output, re.MULTILINE)
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

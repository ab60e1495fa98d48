"""Functions of every kind that FastMCP and the official SDK serve, with calls of each.

`register(server)` registers all of them, on a FastMCP server, an SDK server or a Recorder.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional

from mcp_types import EmbeddedResource, TextContent, TextResourceContents
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

PNG = b"\x89PNG\r\n\x1a\n"


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.StrEnum):
    SMALL = "small"


class Point(BaseModel):
    x: int
    y: int = 2
    label: str = Field("point", alias="theLabel")


class Line(BaseModel):
    points: list[Point]
    color: Color = Color.RED


class Note(TypedDict):
    text: str
    pinned: NotRequired[bool]


@dataclasses.dataclass
class Person:
    name: str
    born: datetime.date | None = None


class Pair(NamedTuple):
    left: int
    right: str


class Plain:
    name: str
    count: int

    def __init__(self, name: str, count: int) -> None:
        self.name = name
        self.count = count

    def __str__(self) -> str:
        return f"{self.name} {self.count}"


def add(a: int, b: int = 2) -> int:
    """Add two integers."""
    return a + b


def greet(name: Annotated[str, Field(min_length=1)] = "you") -> str:
    return f"hello {name}"


def no_annotation(value) -> Any:  # type: ignore[no-untyped-def]
    return value


def untyped(value: int):  # type: ignore[no-untyped-def]
    return {"value": value, "nested": [1, {"a": None}]}


def nothing() -> None:
    """Return nothing."""


def maybe(give: bool) -> int | None:
    return 1 if give else None


def numbers(count: int) -> list[int]:
    return list(range(count))


def words(count: int) -> list[str]:
    return ["ä b"] * count


def nested() -> list[list[int]]:
    return [[1, 2], [], [3]]


def bare_list() -> list:  # type: ignore[type-arg]
    return [1, "two", {"three": 3}]


def table() -> dict[str, int]:
    return {"a": 1, "ü": 2}


def numbered() -> dict[int, str]:
    return {1: "a", 2: "b"}


def pair() -> tuple[int, str]:
    return 1, "b"


def named_pair() -> Pair:
    return Pair(1, "b")


def a_set() -> set[int]:
    return {7}


def half(value: float) -> float:
    """Return a number that may be whole."""
    return int(value)


def color(value: Color) -> Color:
    return value


def size(value: Size = Size.SMALL) -> Size:
    return value


def literal(mode: Literal["a", "b"] = "a") -> Literal["a", "b"]:
    return mode


def tomorrow(day: datetime.date) -> datetime.date:
    return day + datetime.timedelta(days=1)


def later(moment: datetime.datetime, by: datetime.timedelta) -> datetime.datetime:
    return moment + by


def identify(value: uuid.UUID) -> dict[str, Any]:
    return {"id": value, "price": decimal.Decimal("1.50"), "path": Path("a/b")}


def move(point: Point, by: int = Field(1, ge=0, description="steps")) -> Point:
    return Point(x=point.x + by, y=point.y, theLabel=point.label)


def line(points: list[Point]) -> Line:
    return Line(points=points, color=Color.BLUE)


def lines(points: list[Point]) -> list[Line]:
    return [Line(points=points)]


def maybe_point(give: bool = True) -> Point | None:
    return Point(x=1) if give else None


def point_as_object() -> Point:
    """Return an object with the names of a model's fields."""
    return {"x": 1, "label": "here"}  # type: ignore[return-value]


def note(text: str, pinned: bool | None = None) -> Note:
    return Note(text=text) if pinned is None else Note(text=text, pinned=pinned)


def person(person: Person) -> Person:
    return person


def people() -> list[Person]:
    return [Person("Ada", datetime.date(1815, 12, 10)), Person("Bob")]


def plain(name: str) -> Plain:
    return Plain(name, 3)


def either(value: int | str | list[str]) -> int | str | list[str]:
    return value


def optional_value(value: Optional[str] = None) -> str:  # noqa: UP045
    """Return which value was passed."""
    return repr(value)


def unique(values: set[int], limit: Annotated[int, Field(gt=0)] = 10) -> int:
    return len({v for v in values if v < limit})


def renamed(from_: Annotated[str, Field(alias="from")]) -> str:
    return from_


def raw() -> bytes:
    return b"bytes"


def block() -> TextContent:
    return TextContent(type="text", text="a block")


def blocks() -> list[TextContent | EmbeddedResource]:
    contents = TextResourceContents(uri="file:///a.txt", text="a", mime_type="text/x")
    return [
        TextContent(type="text", text="one"),
        EmbeddedResource(type="resource", resource=contents),
    ]


def mixed() -> list[Any]:
    return [TextContent(type="text", text="one"), "two", {"three": 3}]


def text_of_json() -> str:
    return '{"a": 1}'


def wrong(kind: str) -> int:
    raise ValueError(kind)


async def wait(value: int) -> dict[str, int]:
    return {"value": value}


def empty() -> dict[str, Any]:
    return {}


POINT = {"x": 1, "theLabel": "here"}
CALLS: dict[Any, list[dict[str, Any]]] = {
    add: [{"a": 1}, {"a": 1, "b": 5}],
    greet: [{}, {"name": "ä"}],
    no_annotation: [{"value": "text"}],
    untyped: [{"value": 3}],
    nothing: [{}],
    maybe: [{"give": True}, {"give": False}],
    numbers: [{"count": 0}, {"count": 1}, {"count": 3}],
    words: [{"count": 0}, {"count": 2}],
    nested: [{}],
    bare_list: [{}],
    table: [{}],
    numbered: [{}],
    pair: [{}],
    named_pair: [{}],
    a_set: [{}],
    half: [{"value": 2.0}, {"value": 3}],
    color: [{"value": "red"}],
    size: [{}, {"value": "small"}],
    literal: [{}, {"mode": "b"}],
    tomorrow: [{"day": "2026-11-22"}],
    later: [
        {"moment": "2026-11-22T10:00:00", "by": "PT1H"},
        {"moment": "2026-11-22T10:00:00Z", "by": "P1D"},
    ],
    identify: [{"value": "c9bf9e57-1685-4c89-bafb-ff5af830be8a"}],
    move: [{"point": POINT}, {"point": POINT, "by": 4}],
    line: [{"points": [POINT]}, {"points": []}],
    lines: [{"points": [POINT, POINT]}],
    maybe_point: [{}, {"give": False}],
    point_as_object: [{}],
    note: [{"text": "a"}, {"text": "a", "pinned": True}],
    person: [{"person": {"name": "Ada", "born": "1815-12-10"}}],
    people: [{}],
    plain: [{"name": "a"}],
    either: [{"value": 1}, {"value": "a"}, {"value": ["a", "b"]}],
    optional_value: [{}, {"value": None}, {"value": "a"}],
    unique: [{"values": [1, 2, 11]}],
    renamed: [{"from": "here"}],
    raw: [{}],
    block: [{}],
    blocks: [{}],
    mixed: [{}],
    text_of_json: [{}],
    wrong: [{"kind": "a"}],
    wait: [{"value": 1}],
    empty: [{}],
}
"""The calls of each function."""


def register(server: Any) -> None:
    """Register every function that the server accepts."""
    for function in CALLS:
        try:
            server.tool()(function)
        except Exception as error:
            SKIPPED[function.__name__] = f"{type(error).__name__}: {error}"


SKIPPED: dict[str, str] = {}
"""Functions that the server refused, with its reason."""

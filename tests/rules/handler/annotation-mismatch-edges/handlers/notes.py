# Annotations as people write them.
# ruff: noqa: UP037, UP045
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, Optional, TypedDict

from somewhere import Money, Text


class Line(TypedDict):
    at: int


class Place(TypedDict):
    page: int
    lines: Sequence[Line]


class Stored(TypedDict):
    id: int
    lines: list[Line]


def note(
    *,
    text: str,
    place: Place,
    mode: Literal["fast"] = "fast",
    tags: set[str] = frozenset(),
    count: "str | None" = None,
    free: Mapping[str, str] | None = None,
) -> Stored: ...


class RightLine(TypedDict):
    at: NotRequired[float]


class RightPlace(TypedDict):
    page: float
    lines: NotRequired[Sequence[RightLine]]


class RightStored(TypedDict):
    id: str
    lines: tuple[Line, ...]
    more: str


async def right(
    *,
    text: Optional[str],
    place: "RightPlace",
    mode: Literal["fast", "slow"] | None = None,
    tags: list[str] | Sequence[str] = (),
    count: float = 0,
    free: dict[str, Any] | None = None,
) -> RightStored: ...


def unknown(
    *,
    text: Text,
    place: Mapping[str, Any],
    mode: str = "fast",
    tags: Sequence[Text] = (),
    count: Money | str = 0,
    free: object = None,
) -> dict[str, Any] | Stored | Money: ...

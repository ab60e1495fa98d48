from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import Annotated, NotRequired

from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Size(StrEnum):
    SMALL = auto()
    LARGE = auto()


class Address(TypedDict):
    street: str
    town: NotRequired[str]


class Thing(BaseModel):
    sku: str = Field(description="Its number.", min_length=2)
    count: int = Field(default=1, ge=1)
    size: Size = Size.SMALL


@dataclass
class Receipt:
    """What was ordered.

    Attributes:
        things: How many.
        colour: The colour, as it is.
    """

    things: int
    colour: Colour
    kept: list[str] = field(default_factory=list)


class Till:
    """Nothing that a caller can send."""


Number = Annotated[int, Field(ge=0, le=9)]


def place_order(
    things: list[Thing],
    to: Address,
    colour: Colour = Colour.RED,
    rush: Number = 0,
    note: Path | None = None,
    till: Till | None = None,
) -> Receipt:
    """Place an order.

    Args:
        things: What is ordered.
        to: Where it goes.
        colour: Of the parcel.
        rush: How much it hurries.
        note: The file of a note.
    """
    assert all(isinstance(one, Thing) for one in things)
    kept = [to["street"], type(note).__name__, str(rush)]
    return Receipt(sum(one.count for one in things), colour, kept)

"""One finding or change, as the formats for machines tell it."""

from __future__ import annotations

from typing import NamedTuple

from ..findings import Place, Severity
from ..git.program import path_in_repository

__all__ = ["Item", "ItemRule", "place_in_repository"]


class Item(NamedTuple):
    """What is told.

    Attributes:
        rule: the id of its rule.
        severity: how bad it is.
        place: where it is, in the project as it is now.
        message: what it is, lower case, names in backticks.
        help: what to do; may be empty.
        fingerprint: stays the same wherever its lines stand.
        accepted: why somebody accepted it; empty when nobody did.
    """

    rule: str
    severity: Severity
    place: Place
    message: str
    help: str
    fingerprint: str
    accepted: str = ""


class ItemRule(NamedTuple):
    """What is told of a rule.

    Attributes:
        id: its id.
        severity: how bad it usually is.
        title: what it is about, one sentence.
        text: more of it, or the same sentence.
    """

    id: str
    severity: Severity
    title: str
    text: str


def place_in_repository(place: Place, root: str | None) -> Place:
    """A place by its path in the repository that the project at `root` lies in."""
    above = path_in_repository(root) if root is not None else ""
    return place._replace(file=above + place.file)

"""Table of each provider's treatment of JSON Schema keywords, and its dialects.

`dialects.csv` has a row for each keyword, or for a range of its values, and a column for each
dialect. A cell is `BEHAVIOR:SOURCE`; `dialect_sources.csv` has the date and address of each
source. A provider's form contains only what the provider accepts.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from .dialect import Dialect, Nullable, References

_AT_ROOT = "at the root"
_IN_PARAMETER = "in a parameter"
_TYPE_PREFIX = "values of type "
_NAMES_PREFIX = "names other than "
_INTEGERS_PREFIX = "integers beyond "


class Behavior(StrEnum):
    """Treatment of a keyword or value by a provider."""

    ACCEPTS = "accepts"
    """The provider enforces it, or the model reads it."""
    IGNORES = "ignores"
    """The model does not read it, or reads another value."""
    REFUSES_TOOL = "refuses-tool"
    """The provider omits the tool."""
    REFUSES_REQUEST = "refuses-request"
    """The provider rejects every request whose list has the tool."""


class Source(NamedTuple):
    """Evidence of a behavior: documentation, a package, or the report of an error.

    Attributes:
        name: the name in the table.
        date: the day on which it was published or last read.
        source: the text or address.
    """

    name: str
    date: str
    source: str


class Cell(NamedTuple):
    """Treatment of one row's keyword by one dialect, with its evidence."""

    behavior: Behavior
    source: Source


@cache
def read_table() -> Mapping[str, Mapping[tuple[str, str], Cell]]:
    """Read the table; return its cells by dialect, then by (keyword, range of values).

    The range "" stands for all values of the keyword. The table is cached.
    """
    sources = {row["name"]: Source(**row) for row in _read_rows("dialect_sources.csv")}
    table: dict[str, dict[tuple[str, str], Cell]] = {}
    for row in _read_rows("dialects.csv"):
        key = row.pop("keyword"), row.pop("values")
        for dialect, text in row.items():
            behavior, _, source = text.partition(":")
            cell = Cell(Behavior(behavior), sources[source])
            table.setdefault(dialect, {})[key] = cell
    return table


def _read_rows(name: str) -> list[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def build_dialect(name: str) -> Dialect:
    """Build the dialect of a column of the table; the result is cached.

    Raises:
        KeyError: the table has no such column.
    """
    cells = read_table()[name]
    is_accepted = {
        key: cell.behavior is Behavior.ACCEPTS for key, cell in cells.items()
    }

    def list_keywords(values: str, *, accepted: bool) -> frozenset[str]:
        return frozenset(
            keyword
            for (keyword, range_), accepts in is_accepted.items()
            if range_ == values and accepts is accepted
        )

    def list_ranges(keyword: str, prefix: str = "", *, accepted: bool) -> list[str]:
        return [
            range_.removeprefix(prefix)
            for (key, range_), accepts in is_accepted.items()
            if key == keyword and accepts is accepted and range_.startswith(prefix)
        ]

    keywords = list_keywords("", accepted=True)
    enum_types = {*list_ranges("enum", _TYPE_PREFIX, accepted=True)}
    # Every integer is a number in JSON Schema.
    if "number" in enum_types:
        enum_types.add("integer")
    limits = list_ranges("any keyword", _INTEGERS_PREFIX, accepted=False)
    names = list_ranges("properties", _NAMES_PREFIX, accepted=False)
    return Dialect(
        keywords=None if "other keywords" in keywords else keywords,
        lost_at_root=list_keywords(_AT_ROOT, accepted=False),
        lost_of_parameters=list_keywords(_IN_PARAMETER, accepted=False),
        formats=(
            None
            if is_accepted["format", "other values"]
            else frozenset(list_ranges("format", accepted=True)) - {""}
        ),
        has_plain_patterns=not is_accepted[
            "pattern", r"with look-around, back references, \b or \B"
        ],
        has_python_patterns=not is_accepted[
            "pattern", "that Python's re cannot compile"
        ],
        enum_types=(
            frozenset(enum_types)
            if list_ranges("enum", _TYPE_PREFIX, accepted=False)
            else None
        ),
        max_min_items=None if is_accepted["minItems", "above 1"] else 1,
        max_integer=min(map(int, limits), default=None),
        references=_get_references(is_accepted),
        has_reference_siblings=is_accepted["$ref", "next to other keywords"],
        nullable=_get_nullable(is_accepted),
        is_closed=not is_accepted["additionalProperties", "missing, true or a schema"],
        is_required_whole=not is_accepted["required", "without every property"],
        needs_items=not is_accepted["items", "missing in an array"],
        # A dialect may reject several ranges of names; the table lists the strictest first.
        property_names=re.compile(names[0]) if names else None,
    )


def _get_references(is_accepted: Mapping[tuple[str, str], bool]) -> References:
    if not is_accepted["$ref", ""]:
        return References.INLINED
    if is_accepted["$ref", "to a schema that contains itself"]:
        return References.KEPT
    return References.NO_CYCLES


def _get_nullable(is_accepted: Mapping[tuple[str, str], bool]) -> Nullable:
    if not is_accepted["type", "several types"]:
        return Nullable.ANY_OF
    return Nullable.ANY if is_accepted["anyOf", ""] else Nullable.TYPE_LIST

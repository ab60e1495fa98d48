"""The rules of both fields, made of the rows."""

from __future__ import annotations

from typing import Literal

from ..change import ChangeRule, Grade, Grades
from .rule_row import Row
from .rule_rows import ROWS

__all__ = ["FIELDS", "RULES", "Field", "hazard", "row_named"]

Field = Literal["parameters", "returns"]
FIELDS: tuple[Field, ...] = ("parameters", "returns")
_FAMILIES = {"parameters": "parameter", "returns": "result"}
_GRADES = {"safe": Grade.SAFE, "risky": Grade.RISKY, "breaking": Grade.BREAKING}
# Whether values come or go depends on the other alternatives; types do as of `anyOf`.
_ONE_OF = ("one-of-branch-added", "one-of-branch-removed")
_NAMED = {row.name: row for row in ROWS}


def row_named(name: str) -> Row:
    """The row of a name."""
    return _NAMED[name]


def hazard(field: Field, row: Row) -> bool:
    """Whether a change can refuse what was taken, by the way in which it goes."""
    breaks = "fewer" if field == "parameters" else "more"
    return row.effect in (breaks, "either")


def _call(field: Field, row: Row) -> Grade:
    if row.name == "property-removed" and field == "returns":
        return Grade.RISKY
    if row.effect == "none" and field == "returns":
        return Grade.SAFE
    if row.call is not None:
        return _GRADES[row.call]
    if row.effect == "either":
        return Grade.RISKY
    return Grade.BREAKING if hazard(field, row) else Grade.SAFE


def _prompt(field: Field, row: Row) -> Grade:
    told = _GRADES[row.prompt]
    return told if field == "parameters" else Grade(max(0, told - 1))


def _code(field: Field, row: Row) -> Grade:
    if not row.typed:
        # A handler has a default of its own, which may have to follow.
        is_default = row.name == "default-changed" and field == "parameters"
        return Grade.RISKY if is_default else Grade.SAFE
    if row.name == "property-added":
        # A handler has to take it; who reads results need not look at it.
        return Grade.RISKY if field == "parameters" else Grade.SAFE
    if row.name == "property-removed":
        return Grade.BREAKING
    if row.name in _ONE_OF:
        is_worse = (field == "parameters") == row.name.endswith("removed")
        return Grade.BREAKING if is_worse else Grade.RISKY
    return Grade.BREAKING if hazard(field, row) else Grade.RISKY


def _rule(field: Field, row: Row) -> ChangeRule:
    where = "parameters" if field == "parameters" else "results"
    return ChangeRule(
        f"{_FAMILIES[field]}/{row.name}",
        f"Of {where}: {row.means}",
        Grades(_call(field, row), _prompt(field, row), _code(field, row), Grade.SAFE),
        f"{_FAMILIES[field]}/{row.opposite}",
    )


RULES: dict[tuple[Field, str], ChangeRule] = {
    (field, row.name): _rule(field, row) for field in FIELDS for row in ROWS
}
"""Each by its field and the name of its row."""

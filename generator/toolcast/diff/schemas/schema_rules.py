"""Kinds of schema changes and their grades, from the table `rules.csv`.

Each line of the table is one kind of change:

* `effect`: which values are valid after the change: `fewer`, `more`, other ones (`either`), or
  the same (`none`).
* `parameters` and `returns`: the grades for calls, prompts and code if the change is in this
  field. Fewer valid arguments break callers, more valid results break the readers of results.
  A schema does not decide about access, so that grade is always safe.
* `description`: what the kind of change means, for the list of all kinds.
* `message`: the template of the message about one change.
"""

from __future__ import annotations

import csv
from typing import Literal

from ...package_data import read_package_file
from ..change import ChangeRule, Grade, Grades

Field = Literal["parameters", "returns"]
FIELDS: tuple[Field, ...] = ("parameters", "returns")
_ID_PREFIXES = {"parameters": "parameter", "returns": "result"}
_FIELD_LABELS = {"parameters": "parameters", "returns": "result"}

_LINES = read_package_file("diff", "schemas", "rules.csv").decode("utf-8").splitlines()
_ROWS = {row["name"]: row for row in csv.DictReader(_LINES)}

EFFECTS = {name: row["effect"] for name, row in _ROWS.items()}
"""The effect of each kind of change on the set of valid values."""

KEYWORDS = {name: row["keywords"].split(";") for name, row in _ROWS.items()}
"""The keywords whose values each kind of change concerns."""

MESSAGES = {name: row["message"] for name, row in _ROWS.items()}
"""The message template of each kind of change."""


def _build_rule(field: Field, name: str) -> ChangeRule:
    row, prefix = _ROWS[name], _ID_PREFIXES[field]
    call, prompt, code = (Grade[grade.upper()] for grade in row[field].split())
    return ChangeRule(
        f"{prefix}/{name}",
        row["description"].format(field=_FIELD_LABELS[field]),
        Grades(call, prompt, code, Grade.SAFE),
        f"{prefix}/{row['opposite']}",
    )


RULES = {(field, name): _build_rule(field, name) for field in FIELDS for name in _ROWS}
"""The rules by field and kind of change."""

RULES_BY_ID = {rule.id: rule for rule in RULES.values()}
"""The rules by their id, such as `parameter/type-narrowed`."""

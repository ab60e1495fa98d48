"""What a keyword of a schema can do, and how bad that is: the table `rules.csv`.

Each line is one kind of change. `effect` says which values are valid after it: fewer, more,
others (`either`), or the same (`none`). Of `parameters` fewer is what breaks callers, of
`returns` more is what breaks readers of results; the columns with these names have the grades
for call, prompt and code. Who has a tool is not concerned. `means` is for who asks what the
kind of change is, `says` for who reads of one.
"""

from __future__ import annotations

import csv
from typing import Literal

from ...package_data import read_packaged
from ..change import ChangeRule, Grade, Grades

Field = Literal["parameters", "returns"]
FIELDS: tuple[Field, ...] = ("parameters", "returns")
_FAMILIES = {"parameters": "parameter", "returns": "result"}
_FIELD_NAMES = {"parameters": "parameters", "returns": "result"}

_TABLE = read_packaged("diff", "schemas", "rules.csv").decode("utf-8").splitlines()
_ROWS = {row["name"]: row for row in csv.DictReader(_TABLE)}

EFFECTS = {name: row["effect"] for name, row in _ROWS.items()}
"""Which way each kind of change goes."""

KEYWORDS = {name: row["keywords"].split(";") for name, row in _ROWS.items()}
"""What makes each."""

SAYS = {name: row["says"] for name, row in _ROWS.items()}
"""What a message says of each; in braces is what the change fills in."""


def _rule(field: Field, name: str) -> ChangeRule:
    row, family = _ROWS[name], _FAMILIES[field]
    call, prompt, code = (Grade[word.upper()] for word in row[field].split())
    return ChangeRule(
        f"{family}/{name}",
        row["means"].format(field=_FIELD_NAMES[field]),
        Grades(call, prompt, code, Grade.SAFE),
        f"{family}/{row['opposite']}",
    )


RULES = {(field, name): _rule(field, name) for field in FIELDS for name in _ROWS}
"""Each by its field and the name of its row."""

RULES_BY_ID = {rule.id: rule for rule in RULES.values()}

"""Changes of what tools do to databases."""

from __future__ import annotations

from ..change import Grade, Grades
from ..family import Family, Rules
from ..field_rows import entries, flag, items, value

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
POOL = RULES.alone(
    "database/pool", "A tool works on another database.", Grades(call=_R, attachment=_R)
)
READS, READS_NOT = RULES.pair(
    "database/reads",
    "A tool reads a table more.",
    Grades(attachment=_R),
    "database/reads-no-more",
    "A tool reads a table less.",
    Grades(),
)
WRITES, WRITES_NOT = RULES.pair(
    "database/writes",
    "A tool writes a table more.",
    Grades(attachment=_R),
    "database/writes-no-more",
    "A tool writes a table less.",
    Grades(),
)
DESTROYS, DESTROYS_NOT = RULES.pair(
    "database/destroys",
    "A tool deletes rows of a table that it left alone.",
    Grades(attachment=_B),
    "database/destroys-no-more",
    "A tool leaves the rows of a table.",
    Grades(),
)
CONFIRMED, UNCONFIRMED = RULES.pair(
    "database/confirmed",
    "A first call only says what would be destroyed; who expected it to be done calls"
    " once more.",
    Grades(call=_R, prompt=_R),
    "database/not-confirmed",
    "A first call destroys at once.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
POOL_ADDED, POOL_REMOVED = RULES.pair(
    "database/pool-added",
    "The toolset has a database more.",
    Grades(attachment=_R),
    "database/pool-removed",
    "The toolset has a database less; handlers that ask for it fail.",
    Grades(code=_R),
)
TABLE_ADDED, TABLE_REMOVED = RULES.pair(
    "database/table-added",
    "A pool has a table more.",
    Grades(),
    "database/table-removed",
    "A pool has a table less: tools may not name it any more.",
    Grades(code=_R),
)
ACCESSOR_ADDED, ACCESSOR_REMOVED = RULES.pair(
    "database/accessor-added",
    "Handlers' code is checked for queries over this connection.",
    Grades(),
    "database/accessor-removed",
    "Handlers' code is no longer checked for queries over this connection.",
    Grades(attachment=_R),
)

_TOOL = (
    value("data.pool", "the tool's pool", POOL),
    items("data.reads", "the tables that the tool reads", READS, READS_NOT),
    items("data.writes", "the tables that the tool writes", WRITES, WRITES_NOT),
    items(
        "data.destroys",
        "the tables that the tool deletes rows from",
        DESTROYS,
        DESTROYS_NOT,
    ),
    flag(
        "data.confirmation",
        "a first call",
        CONFIRMED,
        UNCONFIRMED,
        ("only says what would be destroyed", "destroys at once"),
    ),
)
_TOOLSET = (
    entries("pools", "the pools", POOL_ADDED, POOL_REMOVED),
    items("pools.*.tables", "the tables of the pool {}", TABLE_ADDED, TABLE_REMOVED),
    items(
        "pools.*.accessors",
        "the connections of the pool {}",
        ACCESSOR_ADDED,
        ACCESSOR_REMOVED,
    ),
)


FAMILY = Family(rules=RULES, tool_rows=_TOOL, toolset_rows=_TOOLSET)
"""What tools do to databases."""

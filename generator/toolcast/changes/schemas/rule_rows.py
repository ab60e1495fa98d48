"""Every kind of change of a schema, as data."""

from __future__ import annotations

from .object_rows import OBJECT_ROWS
from .rule_row import Row
from .told_rows import TOLD_ROWS
from .value_rows import VALUE_ROWS

__all__ = ["ROWS"]

ROWS: tuple[Row, ...] = (*VALUE_ROWS, *OBJECT_ROWS, *TOLD_ROWS)
"""One row for what a keyword can do."""

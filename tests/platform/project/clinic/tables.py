"""Tables of the clinic's database, for SQLite and PostgreSQL."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Uuid,
)

__all__ = ["NOTES", "PATIENTS", "SCANS", "TABLES", "VISITS"]

TABLES = MetaData()


def _number() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _patient() -> Column[object]:
    return Column("patient_id", Uuid, ForeignKey("patients.id"), nullable=False)


PATIENTS = Table(
    "patients",
    TABLES,
    Column("id", Uuid, primary_key=True),
    Column("name", String, nullable=False),
    Column("birthday", String, nullable=False),
    Column("insurance", String, nullable=False),
)
# Times are stored as UTC text, because SQLite has no type with a time zone.
VISITS = Table(
    "visits",
    TABLES,
    _number(),
    _patient(),
    Column("start", String, nullable=False),
    Column("minutes", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("currency", String),
    Column("cents", Integer, nullable=False, default=0),
    Column("booked_by", String),
)
SCANS = Table(
    "scans",
    TABLES,
    _number(),
    _patient(),
    Column("name", String, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
NOTES = Table(
    "notes",
    TABLES,
    _number(),
    _patient(),
    Column("text", String, nullable=False),
    Column("look_again", String),
    Column("written_by", String),
)

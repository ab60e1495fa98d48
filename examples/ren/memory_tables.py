"""Tables of the Agent Memory Schema, in the memory pool.

`logbook.py` writes session headers. The agent platform writes the other tables; the
tools only check their state.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

__all__ = [
    "MEMORY_TABLES",
    "agent_identity",
    "builds",
    "conversations",
    "lessons",
    "session_headers",
    "touchstones",
]

MEMORY_TABLES = MetaData()

_NUMBER = BigInteger().with_variant(Integer, "sqlite")

session_headers = Table(
    "session_headers",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("session_date", String(10), nullable=False, index=True),
    Column("level", String(10), nullable=False),
    Column("summary", Text, nullable=False),
    Column("decisions", Text, nullable=False),
    Column("open_threads", Text, nullable=False),
    Column("commit_refs", Text, nullable=False),
    Column("tags", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

lessons = Table(
    "lessons",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("content", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

touchstones = Table(
    "touchstones",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("content", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

builds = Table(
    "builds",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("name", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

conversations = Table(
    "conversations",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("title", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

agent_identity = Table(
    "agent_identity",
    MEMORY_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("aspect", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

"""Application tables, in the main pool.

Times are ISO 8601 strings in UTC, so that they sort the same in both databases.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

__all__ = [
    "MAIN_TABLES",
    "bridge_transcripts",
    "chat_transcripts",
    "code_chunks",
    "confirmations",
    "memory_accesses",
    "notecards",
    "passage_notes",
    "pending_thoughts",
    "phase_artifacts",
    "portrait_signals",
    "portraits",
    "project_phases",
    "session_summaries",
    "signals",
    "skills",
    "t4_entries",
]

MAIN_TABLES = MetaData()

# SQLite generates row numbers only for columns of the type INTEGER.
_NUMBER = BigInteger().with_variant(Integer, "sqlite")

notecards = Table(
    "notecards",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("text", Text, nullable=False),
    Column("status", String(20), nullable=False, index=True),
    Column("source", String(20), nullable=False),
    Column("created_at", String(30), nullable=False),
    Column("updated_at", String(30), nullable=False),
    sqlite_autoincrement=True,
)

# Messages of the workspace's chats, which its web pages write.
chat_transcripts = Table(
    "chat_transcripts",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("speaker", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("said_at", String(30), nullable=False, index=True),
)

# Messages of `send_to_ren`; they are separate from the chats.
bridge_transcripts = Table(
    "bridge_transcripts",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("speaker", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("said_at", String(30), nullable=False, index=True),
)

skills = Table(
    "skills",
    MAIN_TABLES,
    Column("phase_slug", String(100), primary_key=True),
    Column("layer", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("updated_at", String(30), nullable=False),
)

# Written by `python -m examples.ren.index_code`.
code_chunks = Table(
    "code_chunks",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("file", Text, nullable=False, index=True),
    Column("start_line", Integer, nullable=False),
    Column("end_line", Integer, nullable=False),
    Column("content", Text, nullable=False),
)

t4_entries = Table(
    "t4_entries",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("project_slug", String(100), nullable=False, index=True),
    Column("entry_type", String(40), nullable=False),
    Column("content", Text, nullable=False),
    Column("details", JSON, nullable=False),  # the entry's other fields
    Column("created_at", String(30), nullable=False),
    Column("updated_at", String(30), nullable=False),
    sqlite_autoincrement=True,
)

pending_thoughts = Table(
    "pending_thoughts",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("thoughts", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

memory_accesses = Table(
    "memory_accesses",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("search_query", Text, nullable=False),
    Column("passage_ids", JSON, nullable=False),
    Column("used_in_response", Boolean, nullable=False),
    Column("created_at", String(30), nullable=False),
)

passage_notes = Table(
    "passage_notes",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("passage_id", String(200), nullable=False, index=True),
    Column("context_note", Text, nullable=False),
    Column("session_date", String(10), nullable=False),
    Column("created_at", String(30), nullable=False),
)

project_phases = Table(
    "project_phases",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("phase", String(40), nullable=False, unique=True),
    Column("entered_at", String(30), nullable=False),
)

phase_artifacts = Table(
    "phase_artifacts",
    MAIN_TABLES,
    Column("artifact_key", String(100), primary_key=True),
    Column("description", Text, nullable=False),
    Column("phase", String(40), nullable=False),
    Column("recorded_at", String(30), nullable=False),
)

portraits = Table(
    "portraits",
    MAIN_TABLES,
    Column("person", String(20), primary_key=True),
    Column("layer", String(20), primary_key=True),
    Column("content", Text, nullable=False),
    Column("updated_at", String(30), nullable=False),
)

portrait_signals = Table(
    "portrait_signals",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("person", String(20), nullable=False, index=True),
    Column("signal", Text, nullable=False),
    Column("created_at", String(30), nullable=False),
)

signals = Table(
    "signals",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("signal_type", String(20), nullable=False),
    Column("subject", String(20), nullable=False),
    Column("content", Text, nullable=False),
    Column("session_date", String(10), nullable=False),
)

session_summaries = Table(
    "session_summaries",
    MAIN_TABLES,
    Column("id", _NUMBER, primary_key=True),
    Column("summary", Text, nullable=False),
    Column("session_date", String(10), nullable=False, index=True),
)

# Confirmation codes of deletions; used codes remain as a record.
confirmations = Table(
    "confirmations",
    MAIN_TABLES,
    Column("digest", String(64), primary_key=True),
    Column("subject", Text, nullable=False),
    Column("state", String(64), nullable=False),
    Column("offered_at", String(30), nullable=False),
    Column("expires_at", String(30), nullable=False),
    Column("used_at", String(30)),
)

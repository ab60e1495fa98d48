"""Ledger sink that posts calls to a service: `ledger: {sink: ...:record}`."""

from __future__ import annotations

from functools import cache

from toolcast_runtime.ledger import HttpSink, Record

from .store import get_database_path

__all__ = ["record"]


@cache
def _get_sink() -> HttpSink:
    return HttpSink(
        "${KIRISHIMA_LEDGER_URL:-http://127.0.0.1:4203}/sync/tool",
        outbox=get_database_path().with_name("ledger_sync.sqlite3"),
    )


async def record(record: Record) -> None:
    """Queue a record; it is posted when the service is available."""
    await _get_sink().write(record)

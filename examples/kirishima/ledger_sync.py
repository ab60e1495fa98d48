"""The ledger of calls, posted to the ledger's service: `ledger: {sink: ...:record}`."""

from __future__ import annotations

from functools import cache

from toolcast_runtime.ledger import HttpSink, Record

from .store import database_path

__all__ = ["record"]


@cache
def _sink() -> HttpSink:
    return HttpSink(
        "${KIRISHIMA_LEDGER_URL:-http://127.0.0.1:4203}/sync/tool",
        outbox=database_path().with_name("ledger_sync.sqlite3"),
    )


async def record(record: Record) -> None:
    """Takes a record, whether the ledger's service answers or not."""
    await _sink().write(record)

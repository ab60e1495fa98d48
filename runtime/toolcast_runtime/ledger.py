"""Records of the calls of persistent tools."""

from typing import TYPE_CHECKING, Any

from .rooms.ledger.ledger_settings import LedgerSettings
from .rooms.ledger.record import Ledger, LedgerError, Record

if TYPE_CHECKING:
    from .rooms.ledger.http_sink import HttpSink

__all__ = ["HttpSink", "Ledger", "LedgerError", "LedgerSettings", "Record"]


def __getattr__(name: str) -> Any:
    # SQLite is imported by who needs it.
    if name == "HttpSink":
        from .rooms.ledger.http_sink import HttpSink

        return HttpSink
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

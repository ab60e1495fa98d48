"""Records of the calls of persistent tools."""

from typing import TYPE_CHECKING, Any

from .core.toolset_settings import LedgerError, LedgerSettings

if TYPE_CHECKING:
    from .rooms.ledger.http_sink import HttpSink
    from .rooms.ledger.records import Ledger, Record

__all__ = ["HttpSink", "Ledger", "LedgerError", "LedgerSettings", "Record"]

_LAZY = {"HttpSink": "http_sink", "Ledger": "records", "Record": "records"}


def __getattr__(name: str) -> Any:
    # A toolset says where its records go long before the first of them is written.
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".rooms.ledger.{_LAZY[name]}", __package__), name)

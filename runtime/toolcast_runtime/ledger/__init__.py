"""Call ledger (audit log): records of the calls of persistent tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from ..core.toolset_settings import LedgerError, LedgerSettings
    from .http_sink import HttpSink
    from .records import Ledger, Record

__all__ = [
    "HttpSink",
    "Ledger",
    "LedgerError",
    "LedgerSettings",
    "Record",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "HttpSink": ".http_sink",
        "Ledger": ".records",
        "LedgerError": "..core.toolset_settings",
        "LedgerSettings": "..core.toolset_settings",
        "Record": ".records",
    },
)

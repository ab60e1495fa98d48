"""Records of the calls of persistent tools."""

from typing import TYPE_CHECKING

from .core.lazy_names import lazy_getattr
from .core.toolset_settings import LedgerError, LedgerSettings

if TYPE_CHECKING:
    from .rooms.ledger.http_sink import HttpSink
    from .rooms.ledger.records import Ledger, Record

__all__ = ["HttpSink", "Ledger", "LedgerError", "LedgerSettings", "Record"]

# A toolset declares its ledger long before the first call is recorded.
__getattr__ = lazy_getattr(
    __name__,
    {
        "HttpSink": "toolcast_runtime.rooms.ledger.http_sink",
        "Ledger": "toolcast_runtime.rooms.ledger.records",
        "Record": "toolcast_runtime.rooms.ledger.records",
    },
)

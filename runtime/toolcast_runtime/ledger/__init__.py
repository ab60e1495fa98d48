"""Records of the calls of persistent tools."""

from .record import Ledger, LedgerError, Record
from .settings import LedgerSettings

__all__ = ["Ledger", "LedgerError", "LedgerSettings", "Record"]

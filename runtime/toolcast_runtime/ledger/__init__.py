"""Records of the calls of persistent tools."""

from .ledger_settings import LedgerSettings
from .record import Ledger, LedgerError, Record

__all__ = ["Ledger", "LedgerError", "LedgerSettings", "Record"]

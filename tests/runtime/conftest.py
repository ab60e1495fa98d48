"""Fixtures for a ledger in a file and for missing or broken optional parts."""

from __future__ import annotations

from tests.runtime.broken_parts import break_modules, handler_log
from tests.runtime.file_ledger import file_ledger, handlers

__all__ = ["break_modules", "handlers", "file_ledger", "handler_log"]

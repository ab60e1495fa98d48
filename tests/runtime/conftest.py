"""Fixtures for a ledger in a file and for missing or broken optional parts."""

from __future__ import annotations

from tests.runtime.broken_parts import break_modules, handler_log
from tests.runtime.kept_ledger import handlers, kept

__all__ = ["break_modules", "handlers", "kept", "handler_log"]

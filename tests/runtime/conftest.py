"""Calls of persistent tools, and the ledger that keeps them."""

from __future__ import annotations

from tests.runtime.kept_ledger import handlers, kept

__all__ = ["handlers", "kept"]

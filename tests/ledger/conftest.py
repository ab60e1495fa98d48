"""Fixtures for calls of persistent tools and their ledger."""

from __future__ import annotations

from tests.runtime.kept_ledger import handlers, kept

__all__ = ["handlers", "kept"]

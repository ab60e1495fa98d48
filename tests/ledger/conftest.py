"""Fixtures for calls of persistent tools and their ledger."""

from __future__ import annotations

from tests.runtime.file_ledger import file_ledger, handlers

__all__ = ["handlers", "file_ledger"]

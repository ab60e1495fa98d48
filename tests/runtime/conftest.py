"""Calls of persistent tools and their ledger; optional parts that are broken."""

from __future__ import annotations

from tests.runtime.broken_parts import broken, ran
from tests.runtime.kept_ledger import handlers, kept

__all__ = ["broken", "handlers", "kept", "ran"]

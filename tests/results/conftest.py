"""Servers that answer calls, and are ended after a test."""

from __future__ import annotations

from tests.external.conftest import opened

__all__ = ["opened"]

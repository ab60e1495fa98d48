"""Fixtures for Letta Code's settings."""

from __future__ import annotations

from letta.tests.code.desk import desk

__all__ = ["desk"]

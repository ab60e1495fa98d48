"""Fixture for the rules that report a tool."""

from __future__ import annotations

from tests.rules.attacks import list_rules

__all__ = ["list_rules"]

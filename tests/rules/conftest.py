"""What the rules find in one tool."""

from __future__ import annotations

from tests.rules.attacks import rules_of

__all__ = ["rules_of"]

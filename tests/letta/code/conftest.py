"""The settings of Letta Code, and what is to be in them."""

from __future__ import annotations

from tests.letta.code.desk import desk

__all__ = ["desk"]

"""The settings of Letta Code, and what is to be in them."""

from __future__ import annotations

from letta.tests.code.desk import desk

__all__ = ["desk"]

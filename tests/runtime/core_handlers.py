"""Handlers of tests that have the runtime's core alone."""

from __future__ import annotations


def add(*, a: float = 0, b: float = 0) -> float:
    return a + b

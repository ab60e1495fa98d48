"""Handler for tests that load only the runtime's core."""

from __future__ import annotations


def add(*, a: float = 0, b: float = 0) -> float:
    return a + b

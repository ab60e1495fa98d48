"""Greetings."""

from __future__ import annotations


def greet(*, name: str) -> str:
    """Says hello."""
    return f"Hello, {name}!"

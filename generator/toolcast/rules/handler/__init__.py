"""What the rules of the family `handler` share: places in code, and the way to them."""

from __future__ import annotations

from collections.abc import Sequence

from ...handler_code.call_graph import Step

__all__ = ["place", "way_to"]


def place(file: str, line: int) -> str:
    """`file:line`."""
    return f"{file}:{line}"


def way_to(way: Sequence[Step]) -> str:
    """The calls from the handler to a function; empty for the handler itself."""
    if len(way) < 2:
        return ""
    calls = [f"`{step.name}` ({place(step.file, step.line)})" for step in way[:-1]]
    return f", by way of {' -> '.join([*calls, f'`{way[-1].name}`'])}"

"""What sources contradict each other in, as a person or a program reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from toolcast_runtime.calls.untrusted_text import escaped

from .disagreements import Disagreement

__all__ = ["json_of_disagreements", "lines_of_disagreements"]


def lines_of_disagreements(found: Sequence[Disagreement]) -> Iterator[str]:
    """A block for each tool: where the sources say what, those together that agree."""
    for tool, several in groupby(found, lambda one: one.tool):
        yield escaped(tool, 128)
        for one in several:
            by_word: dict[str, list[str]] = {}
            for source, shown in one.shown:
                by_word.setdefault(shown, []).append(source)
            yield f"  {one.place}{_kind(one)}"
            for shown, sources in by_word.items():
                yield f"    {', '.join(sources)}: {shown}"


def json_of_disagreements(
    found: Sequence[Disagreement], left: Sequence[Disagreement]
) -> list[dict[str, Any]]:
    """An object for each: the values as they stand there, and where there is none.

    Args:
        found: all of them.
        left: those for which nobody chose a source.
    """
    return [
        {
            "tool": one.tool,
            "path": list(one.path),
            "kind": one.kind,
            "values": dict(one.values),
            "absent": [name for name, _ in one.shown if name not in one.values],
            "is_undecided": one in left,
        }
        for one in found
    ]


def _kind(one: Disagreement) -> str:
    """The kind, where the place does not end with it."""
    return "" if one.place.rpartition(".")[2] == one.kind else f" ({one.kind})"

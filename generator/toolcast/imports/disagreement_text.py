"""What sources contradict each other in, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from toolcast_runtime.calls.untrusted_text import escaped

from .disagreements import Disagreement

__all__ = ["lines_of_disagreements"]


def lines_of_disagreements(found: Sequence[Disagreement]) -> Iterator[str]:
    """A block for each tool: where the sources say what, those together that agree."""
    for tool, several in groupby(found, lambda one: one.tool):
        yield escaped(tool, 128)
        for one in several:
            by_word: dict[str, list[str]] = {}
            for source, said in one.said:
                by_word.setdefault(said, []).append(source)
            yield f"  {one.place}{_kind(one)}"
            for said, sources in by_word.items():
                yield f"    {', '.join(sources)}: {said}"


def _kind(one: Disagreement) -> str:
    """The kind, where the place does not end with it."""
    return "" if one.place.rpartition(".")[2] == one.kind else f" ({one.kind})"

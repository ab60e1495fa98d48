"""What a skill tells of a tool at once, and what it leaves to a file of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import TypeVar

__all__ = ["first_paragraph"]

_Line = TypeVar("_Line", bound=str)
# A block that may go on behind a blank line.
_OPENS_BLOCK = re.compile(r"\s*(`{3}|~{3}|<)|.*<!--")


def first_paragraph(usage: Sequence[_Line]) -> tuple[Sequence[_Line], Sequence[_Line]]:
    """The first paragraph of a tool's usage, which says when to choose it, and the rest.

    What opens a block, or announces a list, is not cut: it is all of the rest.
    """
    first = list(takewhile(bool, usage))
    if any(map(_OPENS_BLOCK.match, first)) or (first and first[-1].endswith(":")):
        return [], usage
    return first, usage[len(first) + 1 :]

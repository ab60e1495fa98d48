"""Finds the marked regions of a Markdown file, and puts lines between their marks.

    <!-- toolcast: tools my_tools -->
    <!-- /toolcast -->

A mark stands alone on a line, from its beginning on. Between fences, lines are the text of an
example and no marks. Only what is between the two marks of a region is ever changed, byte for
byte, whatever the rest of the file is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..findings import Finding, Place, Severity

__all__ = ["Region", "filled", "marker", "place_of", "regions_in"]

_BOM = b"\xef\xbb\xbf"
_OPENS = re.compile(rb"<!--[ \t]*toolcast:([^<>\r\n]*?)-->")
_CLOSES = re.compile(rb"<!--[ \t]*/[ \t]*toolcast[ \t]*-->")
_RESEMBLES = re.compile(rb"[ \t>]*<!--[ \t]*/?[ \t]*toolcast\b", re.IGNORECASE)
# Behind the marks of list items and quotations, too. Source: CommonMark 0.31.2, section 4.5.
_FENCE = re.compile(
    rb"((?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])*)(`{3,}(?=[^`]*$)|~{3,})"
)


class Region(NamedTuple):
    """A region.

    Attributes:
        words: what the first mark says after the colon.
        line: where that mark stands, from 1 on.
        text: the mark.
        start: the first byte after the line of the mark.
        end: the first byte of the line of the other mark.
        newline: how the line of the mark ends.
    """

    words: tuple[str, ...]
    line: int
    text: str
    start: int
    end: int
    newline: bytes


def place_of(path: str, line: int, text: str) -> Place:
    """The place of a mark, which is the whole of its line."""
    return Place(path, line, 1, len(text) + 1)


def marker(path: str, line: int, text: str, message: str, help_: str) -> Finding:
    """What is wrong with a mark."""
    place = place_of(path, line, text)
    return Finding("output/marker", Severity.ERROR, place, message, help_, text)


def regions_in(path: str, data: bytes) -> tuple[list[Region], list[Finding]]:
    """The regions of a file, in their order, and what is wrong with its marks."""
    regions: list[Region] = []
    faults: list[Finding] = []
    opened: Region | None = None
    before = fence = b""
    for number, start, line, newline in _lines(data):
        if opened is None:
            # With the list item or quotation that it stands in, a fence ends.
            if before and line[:1].strip(b" \t>"):
                before = fence = b""
            if fence:
                end = rb"%s%s+[ \t]*" % (rb"[ \t>]*" if before else b" {0,3}", fence)
                if re.fullmatch(end, line):
                    before = fence = b""
                continue
            if found := _FENCE.match(line):
                before, fence = found.groups()
                continue
        text = line.rstrip(b" \t")
        shown = text.decode("utf-8", "replace")
        if opens := _OPENS.fullmatch(text):
            if opened is not None:
                faults.append(_unclosed(path, opened))
            words = tuple(opens[1].decode("utf-8", "replace").split())
            after = start + len(line) + len(newline)
            opened = Region(words, number, shown, after, after, newline or b"\n")
        elif _CLOSES.fullmatch(text):
            if opened is None:
                message = "the mark closes a region that no mark opens"
                help_ = "remove it, or write `<!-- toolcast: tools TOOLSET -->` before"
                faults.append(marker(path, number, shown, message, help_))
            else:
                regions.append(opened._replace(end=start))
                opened = None
        elif _RESEMBLES.match(text):
            faults.append(
                marker(
                    path,
                    number,
                    shown,
                    "the line begins as a mark, and is none",
                    "a mark is alone on its line, from the beginning on:"
                    " `<!-- toolcast: tools TOOLSET -->` and `<!-- /toolcast -->`",
                )
            )
    if opened is not None:
        faults.append(_unclosed(path, opened))
    return regions, sorted(faults, key=lambda fault: fault.place.line)


def filled(data: bytes, regions: Sequence[Region], texts: Iterable[str]) -> bytes:
    """The file with new lines in its regions.

    Args:
        texts: for each region, its lines.
    """
    parts: list[bytes] = []
    done = 0
    for region, text in zip(regions, texts, strict=True):
        lines = ["", *text.split("\n"), ""]
        parts.append(data[done : region.start])
        parts += [line.encode() + region.newline for line in lines]
        done = region.end
    return b"".join([*parts, data[done:]])


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Number, place and bytes of each line, and what ends it."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    number = 1
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end + 1
        line = data[start:end]
        newline = b"\r\n" if line.endswith(b"\r\n") else b"\n" * line.endswith(b"\n")
        yield number, start, line[: len(line) - len(newline)], newline
        start = end
        number += 1


def _unclosed(path: str, opened: Region) -> Finding:
    return marker(
        path,
        opened.line,
        opened.text,
        "nothing closes the region",
        "write `<!-- /toolcast -->` on a line of its own where it ends",
    )

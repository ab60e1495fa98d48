"""Marked regions of documents are found, filled in memory and compared."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from toolcast_runtime.files.folder import Folder, LinkInTheWay
from toolcast_runtime.files.regular_file import NoRegularFile

from ..findings import Finding, Place, Severity
from ..model.model import Workspace
from .contents import UnknownRegion, content_of

__all__ = [
    "Region",
    "filled",
    "marker",
    "place_of",
    "regions_in",
    "LARGEST",
    "Document",
    "fill_documents",
    "stale_regions",
]


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


LARGEST = 4 * 1024 * 1024
"""Bytes of the largest document."""


class Document(NamedTuple):
    """A document whose regions could be filled.

    Attributes:
        path: below the project's root.
        before: its bytes as they were read.
        after: the same with the regions that the specs give.
        stale: the regions that are not what the specs give.
    """

    path: str
    before: bytes
    after: bytes
    stale: tuple[Region, ...] = ()


def fill_documents(workspace: Workspace) -> tuple[list[Document], list[Finding]]:
    """The documents of a workspace, and what is wrong with them.

    They are read through no link, and written by nobody here.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    documents: list[Document] = []
    findings: list[Finding] = []
    for index, path in enumerate(workspace.documents):
        try:
            data = _read(workspace, path)
        except _Unusable as problem:
            findings.append(
                workspace.source.error(
                    "spec/document",
                    ("documents", index),
                    f"`{path}` {problem}",
                    problem.help,
                )
            )
            continue
        document, faults = _filled(workspace, path, data)
        documents.append(document)
        findings += faults
    return documents, findings


def stale_regions(documents: Sequence[Document]) -> Iterator[Finding]:
    """A finding for each region that is not what the specs give."""
    for document in documents:
        for region in document.stale:
            yield Finding(
                "output/region",
                Severity.ERROR,
                place_of(document.path, region.line, region.text),
                "the region is not what the specs give",
                "run `toolcast generate`, which writes what is between the marks; move what"
                " was written there by hand out of it",
                region.text,
            )


class _Unusable(Exception):
    """A document cannot be used."""

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


def _read(workspace: Workspace, path: str) -> bytes:
    owned = f"{workspace.output}/".casefold()
    if f"{path}/".casefold().startswith(owned):
        raise _Unusable("is in the output folder", "name a file of your own")
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise _Unusable("has `.` or `..` in it", "name a file below toolcast.yaml")
    below, _, name = path.rpartition("/")
    try:
        with contextlib.ExitStack() as held:
            project = held.enter_context(Folder.at(workspace.root))
            folder = held.enter_context(project.below(below))
            data = folder.read(name, LARGEST + 1)
    except LinkInTheWay as error:
        raise _Unusable("is behind a symbolic link", "name the file itself") from error
    except NoRegularFile as error:
        raise _Unusable(f"cannot be used: {error.strerror}") from error
    except FileNotFoundError as error:
        help_ = "make it, with the marks of a region in it, or take it from `documents`"
        raise _Unusable("is not there", help_) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise _Unusable(f"cannot be read: {reason}") from error
    if len(data) > LARGEST:
        raise _Unusable(f"is larger than {LARGEST // 1024 // 1024} MiB")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Unusable("is not UTF-8") from error
    return data


def _filled(
    workspace: Workspace, path: str, data: bytes
) -> tuple[Document, list[Finding]]:
    regions, faults = regions_in(path, data)
    if not regions and not faults:
        faults.append(
            marker(
                path,
                1,
                "",
                "the document has no region",
                "write `<!-- toolcast: tools TOOLSET -->` and `<!-- /toolcast -->` into it,"
                " each on a line of its own",
            )
        )
    texts: list[str] = []
    for region in regions:
        try:
            texts.append(content_of(region.words, workspace))
        except UnknownRegion as unknown:
            mark = region.line, region.text
            faults.append(marker(path, *mark, str(unknown), unknown.help))
    if faults:
        return Document(path, data, data), faults
    stale = tuple(
        region
        for region, text in zip(regions, texts, strict=True)
        if filled(data, [region], [text]) != data
    )
    return Document(path, data, filled(data, regions, texts), stale), []

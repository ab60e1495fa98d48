"""Find the managed regions of documents, fill them in memory, and compare them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from toolcast_runtime.core.safe_file import NotRegularFileError
from toolcast_runtime.core.safe_folder import Folder, SymlinkError

from ..findings import Finding, Location, Severity
from ..model.model import Workspace
from .content import DocumentError, RegionError, render_region

_BOM = b"\xef\xbb\xbf"
_OPENING_MARKER = re.compile(rb"<!--[ \t]*toolcast:([^<>\r\n]*?)-->")
_CLOSING_MARKER = re.compile(rb"<!--[ \t]*/[ \t]*toolcast[ \t]*-->")
_MARKER_LIKE = re.compile(rb"[ \t>]*<!--[ \t]*/?[ \t]*toolcast\b", re.IGNORECASE)
# A code fence (CommonMark 0.31.2, section 4.5), also after the markers of list items
# and quotes.
_FENCE = re.compile(
    rb"((?:[ \t>]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])*)(`{3,}(?=[^`]*$)|~{3,})"
)
_EXAMPLE = "`<!-- toolcast: tools TOOLSET -->`"


class Region(NamedTuple):
    """A managed region of a document: the lines between two markers.

    Attributes:
        arguments: the kind of region and its arguments, from the opening marker.
        line: the 1-based line of the opening marker.
        text: the opening marker.
        start: the offset of the first byte after the line of the opening marker.
        end: the offset of the first byte of the line of the closing marker.
        newline: the line ending of the opening marker's line.
    """

    arguments: tuple[str, ...]
    line: int
    text: str
    start: int
    end: int
    newline: bytes


def _build_marker_location(path: str, line: int, text: str) -> Location:
    # A marker must be the only text of its line, so the location is the whole line.
    return Location(path, line, 1, len(text) + 1)


def _report_marker(
    path: str, line: int, text: str, message: str, help_: str
) -> Finding:
    location = _build_marker_location(path, line, text)
    return Finding(
        "output/invalid-marker", Severity.ERROR, location, message, help_, text
    )


def find_regions(path: str, data: bytes) -> tuple[list[Region], list[Finding]]:
    """Return the regions of a document in order, and findings about its markers.

    Markers inside fenced code blocks are ignored. Regions without a closing marker are
    left out.

    Args:
        path: the path of the document, for findings.
        data: its bytes.
    """
    regions: list[Region] = []
    problems: list[Finding] = []
    opened: Region | None = None
    container = fence = b""
    for number, start, line, newline in _split_lines(data):
        if opened is None:
            # A fence ends with the list item or quote that contains it.
            if container and line[:1].strip(b" \t>"):
                container = fence = b""
            if fence:
                indent = rb"[ \t>]*" if container else b" {0,3}"
                if re.fullmatch(rb"%s%s+[ \t]*" % (indent, fence), line):
                    container = fence = b""
                continue
            if match := _FENCE.match(line):
                container, fence = match.groups()
                continue
        marker = line.rstrip(b" \t")
        text = marker.decode("utf-8", "replace")
        if opening := _OPENING_MARKER.fullmatch(marker):
            if opened is not None:
                problems.append(_report_unclosed(path, opened))
            arguments = tuple(opening[1].decode("utf-8", "replace").split())
            content = start + len(line) + len(newline)
            # The last line of a file can have no line ending.
            opened = Region(arguments, number, text, content, content, newline or b"\n")
        elif _CLOSING_MARKER.fullmatch(marker):
            if opened is None:
                message = "the marker closes a region that no marker opens"
                help_ = f"remove it, or add {_EXAMPLE} before it"
                problems.append(_report_marker(path, number, text, message, help_))
            else:
                regions.append(opened._replace(end=start))
                opened = None
        elif _MARKER_LIKE.match(marker):
            message = "the line resembles a marker but is not a valid one"
            help_ = (
                "put the marker alone on its line, without indentation:"
                f" {_EXAMPLE} or `<!-- /toolcast -->`"
            )
            problems.append(_report_marker(path, number, text, message, help_))
    if opened is not None:
        problems.append(_report_unclosed(path, opened))
    return regions, sorted(problems, key=lambda problem: problem.location.line)


def _report_unclosed(path: str, opened: Region) -> Finding:
    return _report_marker(
        path,
        opened.line,
        opened.text,
        "the region has no closing marker",
        "add `<!-- /toolcast -->` on a line of its own at the end of the region",
    )


def _split_lines(data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Yield the number, offset, bytes and line ending of each line.

    A byte order mark is not part of the first line; the bytes have no line ending.
    """
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


def fill_regions(
    data: bytes, regions: Sequence[Region], contents: Iterable[str]
) -> bytes:
    """Return a document with the content of its regions replaced.

    The text outside the regions is unchanged; new lines get the region's line ending.

    Args:
        data: the document.
        regions: its regions, in order.
        contents: the new lines of each region.
    """
    parts: list[bytes] = []
    copied = 0
    for region, content in zip(regions, contents, strict=True):
        # A blank line after the opening and before the closing marker separates them
        # from the content.
        lines = ["", *content.split("\n"), ""]
        parts.append(data[copied : region.start])
        parts += [line.encode() + region.newline for line in lines]
        copied = region.end
    return b"".join([*parts, data[copied:]])


MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
"""The maximum size of a document with regions."""


class Document(NamedTuple):
    """A document with managed regions, before and after filling them.

    Attributes:
        path: the path below the project's root.
        before: the bytes on disk.
        after: the bytes with filled regions; if a marker is invalid, the bytes on disk.
        stale: the regions whose content on disk differs from the specs.
    """

    path: str
    before: bytes
    after: bytes
    stale: tuple[Region, ...] = ()


def fill_documents(workspace: Workspace) -> tuple[list[Document], list[Finding]]:
    """Return the filled documents of a workspace, and findings about them.

    Nothing is written. A document that cannot be read, or is behind a symbolic link,
    has a finding and is left out.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    documents: list[Document] = []
    findings: list[Finding] = []
    for index, path in enumerate(workspace.documents):
        try:
            data = read_document(workspace, path)
        except DocumentError as error:
            findings.append(
                workspace.source.error(
                    "spec/invalid-document",
                    ("documents", index),
                    f"`{path}` {error}",
                    error.help,
                )
            )
            continue
        document, problems = _fill_document(workspace, path, data)
        documents.append(document)
        findings += problems
    return documents, findings


def check_stale_regions(documents: Sequence[Document]) -> Iterator[Finding]:
    """Yield a finding for each region whose content differs from the specs."""
    for document in documents:
        for region in document.stale:
            yield Finding(
                "output/outdated-region",
                Severity.ERROR,
                _build_marker_location(document.path, region.line, region.text),
                "the region differs from the specs",
                "run `toolcast generate`, which replaces all lines between the markers;"
                " first move text of your own out of the region",
                region.text,
            )


def read_document(workspace: Workspace, path: str) -> bytes:
    """Return the bytes of a document of the project, which are valid UTF-8.

    Raises:
        DocumentError: the file cannot be used; the message continues a sentence that
            begins with its path.
    """
    output = f"{workspace.output}/".casefold()
    if f"{path}/".casefold().startswith(output):
        raise DocumentError(
            "is in the output folder", "list a file outside of the output folder"
        )
    if not {".", ".."}.isdisjoint(path.split("/")):
        raise DocumentError(
            "contains `.` or `..`", "write the path below the folder of toolcast.yaml"
        )
    below, _, name = path.rpartition("/")
    try:
        with contextlib.ExitStack() as stack:
            project = stack.enter_context(Folder.open_path(workspace.root))
            folder = stack.enter_context(project.open_subfolder(below))
            data = folder.read(name, MAX_DOCUMENT_BYTES + 1)
    except SymlinkError as error:
        raise DocumentError(
            "is a symbolic link or below one", "list the file that the link refers to"
        ) from error
    except NotRegularFileError as error:
        raise DocumentError(f"cannot be used: {error.strerror}") from error
    except FileNotFoundError as error:
        help_ = "create it with the markers of a region, or remove it from `documents`"
        raise DocumentError("does not exist", help_) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DocumentError(f"cannot be read: {reason}") from error
    if len(data) > MAX_DOCUMENT_BYTES:
        limit = MAX_DOCUMENT_BYTES // 1024 // 1024
        raise DocumentError(
            f"is larger than {limit} MiB", "move the regions to a smaller file"
        )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError("is not UTF-8", "save the file as UTF-8") from error
    return data


def _fill_document(
    workspace: Workspace, path: str, data: bytes
) -> tuple[Document, list[Finding]]:
    regions, problems = find_regions(path, data)
    if not regions and not problems:
        message = "the document has no region"
        help_ = f"add {_EXAMPLE} and `<!-- /toolcast -->`, each on a line of its own"
        problems.append(_report_marker(path, 1, "", message, help_))
    contents: list[str] = []
    for region in regions:
        try:
            contents.append(render_region(region.arguments, workspace))
        except RegionError as error:
            problems.append(
                _report_marker(path, region.line, region.text, str(error), error.help)
            )
    if problems:
        return Document(path, data, data), problems
    stale = tuple(
        region
        for region, content in zip(regions, contents, strict=True)
        if fill_regions(data, [region], [content]) != data
    )
    return Document(path, data, fill_regions(data, regions, contents), stale), []

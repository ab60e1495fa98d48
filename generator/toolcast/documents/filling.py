"""Reads the documents that toolcast.yaml names, and fills their regions in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolcast_runtime.files.folder import Folder, LinkInTheWay
from toolcast_runtime.files.regular_file import NoRegularFile

from ..findings import Finding, Severity
from ..model.model import Workspace
from .contents import UnknownRegion, content_of
from .regions import Region, filled, marker, place_of, regions_in

__all__ = ["LARGEST", "Document", "fill_documents", "stale_regions"]

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
                workspace.source.finding(
                    "spec/document",
                    Severity.ERROR,
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

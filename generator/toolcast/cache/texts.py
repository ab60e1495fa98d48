"""The file of most texts, which stays as it is while few of them change."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .index import CACHE_FOLDER, replace
from .pieces import TEXTS
from .stored import TEXTS_FORMAT, Section, Stored

__all__ = ["Places", "keep_texts", "stored_texts"]

Sections = Mapping[str, Mapping[str, Section]]
"""Sections by their names, by toolset."""

Places = tuple[str, dict[str, dict[str, list[int]]]]
"""The file's mark, and where each section of it begins and how long it is."""

_FILE = "texts"


def keep_texts(root: str, packed: Sections, mark: str) -> Places:
    """Writes the texts, unless they are all in the file already.

    Args:
        mark: of the new file, if there is one.

    Raises:
        OSError: they cannot be written, or not be read any more.
    """
    path = os.path.join(root, CACHE_FOLDER, _FILE)
    places: dict[str, dict[str, list[int]]] = {}
    kept = [
        section
        for sections in packed.values()
        for name, section in sections.items()
        if name.startswith(TEXTS)
    ]
    stored = [section for section in kept if isinstance(section, Stored)]
    is_there = bool(kept) and len(stored) == len(kept)
    if is_there and 2 * sum(s.length for s in stored) >= os.path.getsize(path):
        mark = stored[0].mark
    else:
        is_there = False
    parts = [TEXTS_FORMAT + mark.encode("ascii") + b"\n"]
    start = len(parts[0])
    for folder, sections in packed.items():
        places[folder] = {}
        for name, section in sections.items():
            if not name.startswith(TEXTS):
                continue
            if is_there and isinstance(section, Stored):
                places[folder][name] = [section.start, section.length]
                continue
            part = bytes(section)
            parts.append(part)
            places[folder][name] = [start, len(part)]
            start += len(part)
    if not is_there:
        replace(path, parts)
    return mark, places


def stored_texts(root: str, places: Any) -> dict[str, dict[str, Section]]:
    """The sections that are in the file.

    Raises:
        OSError: there is no such file.
        ValueError: these are no places in it.
    """
    path = os.path.join(root, CACHE_FOLDER, _FILE)
    mark, toolsets = places
    size = os.path.getsize(path)
    found: dict[str, dict[str, Section]] = {}
    for folder, sections in toolsets.items():
        found[folder] = {}
        for name, (start, length) in sections.items():
            if not 0 <= start <= start + length <= size:
                raise ValueError("a pack says where no texts can be")
            found[folder][name] = Stored(path, str(mark), start, length)
    return found

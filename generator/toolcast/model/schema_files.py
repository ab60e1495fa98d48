"""The files in a project that its specs name as their schema, for editors."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable

from ..language.spec_language import schema

__all__ = ["is_schema_of_ours", "named_schema", "named_schemas"]

_NAMED = re.compile(r"^#\s*yaml-language-server:\s*\$schema=(\S+)", re.MULTILINE)


def named_schema(file: str, text: str) -> str | None:
    """The schema that a comment of a file names, if it is in the project.

    Args:
        file: the path of the file, relative to the project's root.
        text: its text; the first lines do.
    """
    match = _NAMED.search(text)
    if match is None or ":" in match[1] or match[1].startswith("/"):
        return None  # elsewhere
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), match[1]))
    return path if path.endswith(".json") and not path.startswith("..") else None


def named_schemas(files: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The kind of each named schema, by its path; `files` are kind, path and text."""
    found: dict[str, str] = {}
    for kind, file, text in files:
        path = named_schema(file, text)
        if path is not None:
            found.setdefault(path, kind)
    return found


def is_schema_of_ours(text: str, kind: str) -> bool:
    """Whether a text is a schema of the kind, of whatever version and extensions."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("$id") == schema(kind)["$id"]

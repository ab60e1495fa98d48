"""The files in a project that its specs name as their schema, for editors."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable

from ..language.spec_language import schema

__all__ = [
    "SCHEMA_FILE",
    "is_schema_of_ours",
    "named_schema",
    "named_schemas",
    "schemas_beside",
]

SCHEMA_FILE = "toolcast.schema.json#/$defs/{}"
"""What a spec says of its schema, by its kind: a part of the file that has all of them."""
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
    named = match[1].partition("#")[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), named))
    return path if path.endswith(".json") and not path.startswith("..") else None


def schemas_beside(text: str, kind: str) -> str | None:
    """What a file's comment says of its schema, with `{}` instead of the file's kind.

    In an older project each kind has a file of its own: `tool.schema.json`.

    Args:
        text: the file's; the first lines do.
        kind: the file's, of `KINDS`.
    """
    match = _NAMED.search(text)
    for end in (f"{kind}.schema.json", f".json#/$defs/{kind}"):
        if match is not None and match[1].endswith(end):
            begin = match[1].removesuffix(end)
            return begin + end.replace(kind, "{}") if "{" not in begin else None
    return None


def named_schemas(files: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The kind of each named schema, by its path; `files` are kind, path and text.

    Which one a file names decides where several do: the whole language's or its kind's.
    """
    found: dict[str, str] = {}
    for kind, file, text in files:
        path, match = named_schema(file, text), _NAMED.search(text)
        if path is not None and match is not None:
            is_part = match[1].endswith(f"#/$defs/{kind}")
            found.setdefault(path, "project" if is_part else kind)
    return found


def is_schema_of_ours(text: str, kind: str) -> bool:
    """Whether a text is a schema of the kind, of whatever version and extensions."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("$id") == schema(kind)["$id"]

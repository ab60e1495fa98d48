"""An edit as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from .project_edit import ProjectEdit

__all__ = ["unified_diff"]

_NOTHING = "/dev/null"


def unified_diff(edit: ProjectEdit) -> Iterator[str]:
    """The lines of a diff, in the form that `git apply` takes; a moved file is one change."""
    moved = _moved(edit)
    for path in sorted(edit.after):
        if path in moved.values():
            continue
        new_path = moved.get(path, path)
        old = _lines(edit.before[path])
        new = _lines(edit.after[new_path])
        if path != new_path:
            yield f"diff --git a/{path} b/{new_path}"
            yield f"rename from {path}"
            yield f"rename to {new_path}"
        from_, to = f"a/{path}", f"b/{new_path}"
        if edit.before[path] is None:
            from_ = _NOTHING
        if edit.after[new_path] is None:
            to = _NOTHING
        for row in difflib.unified_diff(old, new, from_, to, lineterm="\n"):
            yield row.removesuffix("\n")
            if not row.endswith("\n"):
                yield "\\ No newline at end of file"


def _moved(edit: ProjectEdit) -> dict[str, str]:
    """The one file that goes, and the one that comes."""
    gone = [path for path, data in edit.after.items() if data is None]
    new = [path for path, data in edit.before.items() if data is None]
    return {gone[0]: new[0]} if len(gone) == len(new) == 1 else {}


def _lines(data: bytes | None) -> list[str]:
    text = "" if data is None else data.decode("utf-8")
    parts = text.split("\n")
    rows = [f"{part}\n" for part in parts[:-1]]
    return [*rows, parts[-1]] if parts[-1] else rows

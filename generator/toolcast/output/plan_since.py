"""The plan for an output folder that is exactly as the last run left it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .kept import Kept, Output, digests_of
from .plan import Plan

__all__ = ["plan_since"]


def plan_since(files: Mapping[str, Output], known: Mapping[str, str]) -> Plan | None:
    """The plan for an output folder that is exactly as the last run left it.

    Args:
        files: what the specs give, by the path below it.
        known: the digest of every file in it, if what is remembered of it is true.

    Returns:
        None when it cannot be true: a file would have to be written whose bytes are not
        known, or one be removed that is no file of the folder.
    """
    now = digests_of(files)
    unchanged = tuple(path for path, value in known.items() if now.get(path) == value)
    changed = now.keys() - set(unchanged)
    orphaned = known.keys() - now.keys()
    if any(isinstance(files[path], Kept) for path in changed):
        return None
    if not all(map(_is_below, orphaned)):
        return None
    return Plan(
        unchanged=unchanged,
        missing=tuple(sorted(changed - known.keys())),
        stale=tuple(sorted(changed & known.keys())),
        orphaned=tuple(sorted(orphaned)),
        is_settled=True,
    )


def _is_below(path: str) -> bool:
    """Whether a path leads to something below the folder that it is relative to."""
    steps = path.replace(os.sep, "/").split("/")
    return {"", ".", ".."}.isdisjoint(steps) and not os.path.splitdrive(path)[0]

"""How the output folder looks after a run: as before it, but for what the run itself did.

Nothing is looked at twice, and that is also the safe way: when somebody else changes a file
while a run goes on, the change is in neither of the two, so the next run sees it.
"""

from __future__ import annotations

import os
import time
from array import array
from collections import defaultdict
from collections.abc import Mapping

from ..output.writer import Written
from .look import TICK, UNKNOWN, has_names, stamp_of
from .seen import BELOW, Folder, Look

__all__ = ["renewed"]

_Numbers = tuple[int, int, int]


def renewed(root: str, output: str, before: Look, written: Written) -> Look:
    """The look at the output folder after a run; waits until the clock has moved on.

    Args:
        root: the project's folder.
        output: the output folder, below it.
        before: the look at it, from before anything was read or written there.
        written: what the run did.
    """
    top = os.fsencode(output)
    look = Look(dict(before.numbers), dict(before.folders))
    changes: defaultdict[bytes, dict[bytes, _Numbers | None]] = defaultdict(dict)
    for paths in (dict.fromkeys(written.gone), written.looks):
        for path, numbers in paths.items():
            whole = top + b"/" + os.fsencode(path)
            folder, _, name = whole.rpartition(b"/")
            changes[folder][name] = numbers
    for place, changed in changes.items():
        _change(look, top, place, changed)
    stale = {place for place, seen in look.folders.items() if seen.stamp == UNKNOWN}
    for place in changes:
        stale.update(_up_to(top, place))
    _wait_for(look.newest() + TICK)
    # The deepest first: whether a folder is gone shows in the one above.
    for place in sorted(stale & set(look.folders), key=len, reverse=True):
        _stamp(look, top, place, os.path.join(os.fsencode(root), place))
    return look


def _up_to(top: bytes, path: bytes) -> list[bytes]:
    """A folder and those above it."""
    folders = [path]
    while len(path) > len(top):
        path = path.rpartition(b"/")[0]
        folders.append(path)
    return folders


def _change(
    look: Look, top: bytes, path: bytes, changed: Mapping[bytes, _Numbers | None]
) -> None:
    """Changes what is known of the files in a folder; None for those that are gone."""
    seen = look.folders.get(path) or _added(look, top, path)
    numbers = array("q", seen.numbers)
    threes = zip(*[iter(numbers)] * 3, strict=True)
    known: dict[bytes, _Numbers] = dict(zip(seen.names, threes, strict=True))
    below = seen.below
    for name, found in changed.items():
        look.numbers.pop(path + b"/" + name, None)
        known.pop(name, None)
        if found is not None:
            known[name] = found
            if name in below:
                # An empty folder was in its way.
                below = [other for other in below if other != name]
                look.folders.pop(path + b"/" + name, None)
    numbers = array("q", [number for three in known.values() for number in three])
    stamp = seen.stamp or UNKNOWN
    look.folders[path] = Folder(seen.kind, stamp, below, [*known], numbers.tobytes())


def _added(look: Look, top: bytes, path: bytes) -> Folder:
    """Adds a folder that the run made, and those above it as far as they are new."""
    above, _, name = path.rpartition(b"/")
    parent = look.folders.get(above) or _added(look, top, above)
    look.folders[above] = Folder(
        parent.kind,
        parent.stamp or UNKNOWN,
        [*parent.below, name],
        parent.names,
        parent.numbers,
    )
    added = look.folders[path] = Folder(BELOW, UNKNOWN, [], [], b"")
    return added


def _stamp(look: Look, top: bytes, path: bytes, absolute: bytes) -> None:
    """Settles the times of a folder in which the run wrote, if nobody else did."""
    seen = look.folders[path]
    stamp = UNKNOWN
    try:
        # First: what comes into the folder after this makes its times others.
        found = stamp_of(os.stat(absolute, follow_symlinks=path == top))
        is_old = max(array("q", found)) <= time.time_ns() - TICK
        if is_old and has_names(absolute, seen):
            stamp = found
    except FileNotFoundError:
        if path != top and not seen.names and not seen.below:
            _remove(look, path)
            return
    except OSError:
        # Somebody else has made it unreadable; the next run says so.
        pass
    look.folders[path] = Folder(seen.kind, stamp, seen.below, seen.names, seen.numbers)


def _remove(look: Look, path: bytes) -> None:
    """Removes a folder that became empty, and that the run removed."""
    del look.folders[path]
    above, _, name = path.rpartition(b"/")
    seen = look.folders[above]
    below = [other for other in seen.below if other != name]
    look.folders[above] = Folder(seen.kind, seen.stamp, below, seen.names, seen.numbers)


def _wait_for(moment: int) -> None:
    wait = moment - time.time_ns()
    if 0 < wait <= TICK:
        time.sleep(wait / 1e9)

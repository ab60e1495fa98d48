"""The index: how everything looked when a run ended, so that the next one can tell at once.

It is read before anything else is imported, so this module needs the standard library's
lightest parts only. A file in it may be anything, somebody else's too: it is read as JSON
and compared as bytes, and the worst that a wrong one does is a run that does its work.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, NamedTuple

from .look import Look, Watched, look_at

__all__ = [
    "CACHE_FOLDER",
    "TICK",
    "Index",
    "Said",
    "environment",
    "generator_watched",
    "read_index",
    "unchanged",
    "write_index",
]

CACHE_FOLDER = os.path.join(".toolcast", "cache")
_FILE = "index"
_FORMAT = b"toolcast index 1\n"
TICK = 20_000_000
"""Nanoseconds within which a file may change twice and look the same; 1 jiffy is 10 ms."""


class Said(NamedTuple):
    """What a run without changes says.

    Attributes:
        plain: to standard error.
        coloured: to standard error, where a person watches.
        result: to standard output.
    """

    plain: str
    coloured: str
    result: str


class Index(NamedTuple):
    """What a run left behind.

    Attributes:
        environment: which Python and which paths it ran with.
        generator: what is watched of the generator and of what is installed.
        inputs: what was read, or looked for, of the project.
        outputs: the folder of the outputs.
        until: the day on which a suppression ends, and with it the index; None for never.
        pack: which pack of results belongs to it.
        said: what a run that finds nothing changed says.
        looks: how the three looked, as bytes.
    """

    environment: list[str]
    generator: Watched
    inputs: Watched
    outputs: Watched
    until: str | None
    pack: str
    said: Said
    looks: tuple[bytes, bytes, bytes]


def environment() -> list[str]:
    """What else than files decides on the results."""
    return [sys.version, sys.executable, *_installed()]


def _installed() -> list[str]:
    """Where packages are looked for, apart from where the program happens to stand."""
    here = {"", os.getcwd(), os.path.dirname(sys.argv[0])}
    return [path for path in sys.path if path not in here]


def generator_watched() -> Watched:
    """The generator's own files, and the folders where packages are installed."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    templates = os.path.join(os.path.dirname(os.path.dirname(package)), "templates")
    is_checkout = not os.path.isdir(os.path.join(package, "templates"))
    return Watched(_installed(), [], [package, templates] if is_checkout else [package])


def unchanged(root: str) -> Said | None:
    """What to say when nothing that an earlier run saw has changed; None when something has."""
    index = read_index(root)
    if index is None or not is_current(index):
        return None
    watched = (index.generator, index.inputs, index.outputs)
    # The inputs first: they are what mostly changes.
    for place in (1, 0, 2):
        if look_at(root, watched[place]).to_bytes() != index.looks[place]:
            return None
    return index.said


def is_current(index: Index) -> bool:
    """Whether an index is of this Python, and its day has not come."""
    is_over = index.until is not None and time.strftime("%Y-%m-%d") >= index.until
    return index.environment == environment() and not is_over


def read_index(root: str) -> Index | None:
    """The index of a project; None without one, or when it is none."""
    try:
        with open(os.path.join(root, CACHE_FOLDER, _FILE), "rb") as stream:
            data = stream.read()
        if not data.startswith(_FORMAT):
            return None
        head, _, blob = data[len(_FORMAT) :].partition(b"\n")
        value: dict[str, Any] = json.loads(head)
        looks = []
        for length in value["lengths"]:
            looks.append(blob[:length])
            blob = blob[length:]
        generator, inputs, outputs = (Watched(*lists) for lists in value["watched"])
        return Index(
            value["environment"],
            generator,
            inputs,
            outputs,
            value["until"],
            value["pack"],
            Said(*value["said"]),
            (looks[0], looks[1], looks[2]),
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        # Whatever it is, it is no index that can be used.
        return None


def write_index(root: str, index: Index, settled: Look) -> None:
    """Writes the index as a whole, once the clock has moved on from the newest output.

    Args:
        settled: the look at the outputs; a file that is changed within the same tick of the
            clock would look the same.

    Raises:
        OSError: it cannot be written.
    """
    now = time.time_ns()
    wait = settled.newest() + TICK - now
    if 0 < wait <= TICK:
        time.sleep(wait / 1e9)
    head = json.dumps(
        {
            "environment": index.environment,
            "watched": [index.generator, index.inputs, index.outputs],
            "until": index.until,
            "pack": index.pack,
            "said": index.said,
            "lengths": [len(look) for look in index.looks],
        }
    )
    folder = os.path.join(root, CACHE_FOLDER)
    os.makedirs(folder, exist_ok=True)
    data = b"".join([_FORMAT, head.encode("ascii"), b"\n", *index.looks])
    replace(os.path.join(folder, _FILE), data)


def replace(path: str, data: bytes) -> None:
    """Writes a file of the cache as a whole.

    Raises:
        OSError: it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as stream:
        stream.write(data)
    os.replace(temporary, path)

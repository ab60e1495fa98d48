"""The index: how everything looked when a run ended, so that the next one can tell at once.

It is read before anything else is imported, so this module needs the standard library's
lightest parts only. A file in it may be anything, somebody else's too: it is read as fields
of bytes, and the worst that a wrong one does is a run that does its work.
"""

from __future__ import annotations

import os
import sys
import time

from .fields import joined, separated, texts, with_texts
from .look import is_same
from .seen import Look, Watched

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CACHE_FOLDER",
    "Index",
    "Said",
    "environment",
    "generator_watched",
    "is_current",
    "read_index",
    "replace",
    "unchanged",
    "write_index",
]

CACHE_FOLDER = os.path.join(".toolcast", "cache")
_FILE = "index"
_FORMAT = b"toolcast index 2\n"


class Said:
    """What a run without changes says.

    Attributes:
        plain: to standard error.
        coloured: to standard error, where a person watches.
        result: to standard output.
    """

    __slots__ = ("coloured", "plain", "result")

    def __init__(self, plain: str, coloured: str, result: str) -> None:
        self.plain = plain
        self.coloured = coloured
        self.result = result


class Index:
    """What a run left behind.

    Attributes:
        environment: which Python and which paths it ran with.
        inputs: what was read, or looked for, of the project.
        until: the day on which a suppression ends, and with it the index; None for never.
        pack: which pack of results belongs to it.
        said: what a run that finds nothing changed says.
        looks: as bytes, how the generator with what is installed looked, the inputs, and
            the folder of the outputs.
    """

    __slots__ = ("environment", "inputs", "looks", "pack", "said", "until")

    def __init__(
        self,
        environment: list[str],
        inputs: Watched,
        until: str | None,
        pack: str,
        said: Said,
        looks: tuple[bytes, bytes, bytes],
    ) -> None:
        self.environment = environment
        self.inputs = inputs
        self.until = until
        self.pack = pack
        self.said = said
        self.looks = looks


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
    generator, inputs, outputs = index.looks
    try:
        # The inputs first: they are what mostly changes.
        for seen in (inputs, generator, outputs):
            if not is_same(root, Look.from_bytes(seen)):
                return None
    except ValueError:
        # Whatever it is, it is no look.
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
        ran, inputs, words, *looks = separated(data[len(_FORMAT) :])
        until, pack, *said = texts(words)
        generator_look, read, written = looks
        plain, coloured, result = said
        return Index(
            texts(ran),
            Watched.from_bytes(inputs),
            until or None,
            pack,
            Said(plain, coloured, result),
            (generator_look, read, written),
        )
    except (OSError, ValueError):
        # Whatever it is, it is no index that can be used.
        return None


def write_index(root: str, index: Index) -> None:
    """Writes the index as a whole.

    Raises:
        OSError: it cannot be written.
    """
    said = index.said
    words = [index.until or "", index.pack, said.plain, said.coloured, said.result]
    fields = [
        with_texts(index.environment),
        index.inputs.to_bytes(),
        with_texts(words),
        *index.looks,
    ]
    folder = os.path.join(root, CACHE_FOLDER)
    os.makedirs(folder, exist_ok=True)
    replace(os.path.join(folder, _FILE), [_FORMAT, joined(fields)])


def replace(path: str, parts: Iterable[bytes | memoryview]) -> None:
    """Writes a file of the cache as a whole.

    Args:
        parts: what stands in it, in pieces, which may be too much to hold twice.

    Raises:
        OSError: it cannot be written.
    """
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "wb") as stream:
        stream.writelines(parts)
    os.replace(temporary, path)

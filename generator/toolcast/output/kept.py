"""What a run gives for a file: its bytes, or only what an earlier run knows of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Kept", "Output", "digest", "only_named", "runtime_imports"]

_FROM_OUTPUT = re.compile(rb"^\s*from \.+_runtime\.(\w+) import ", re.MULTILINE)


class Kept(NamedTuple):
    """A file that an earlier run wrote, and that is the same now.

    Attributes:
        digest: of its bytes.
        imports: the modules of the runtime that it imports.
    """

    digest: str
    imports: tuple[str, ...] = ()


Output = bytes | Kept


def digest(data: Output) -> str:
    """`sha256:` and the hexadecimal digest."""
    if isinstance(data, Kept):
        return data.digest
    return "sha256:" + hashlib.sha256(data).hexdigest()


def runtime_imports(path: str, data: Output) -> list[str]:
    """The modules of the runtime that a generated file imports."""
    if isinstance(data, Kept):
        return list(data.imports)
    if not path.endswith(".py"):
        return []
    return sorted({found.decode() for found in _FROM_OUTPUT.findall(data)})


def only_named(files: Mapping[str, Output]) -> dict[str, Output]:
    """The files by their digests alone, so that their bytes can be let go."""
    return {path: Kept(digest(data)) for path, data in files.items()}

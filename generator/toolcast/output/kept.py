"""What a run gives for a file: its bytes, or only what an earlier run knows of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["Kept", "Made", "Output", "digest", "made", "only_named", "runtime_imports"]

# The search is for the fixed text; what stands before it on its line is asked then.
_RUNTIME = re.compile(rb"_runtime\.(\w+) import ")
_FROM = re.compile(rb"\s*from \.+")


class Kept(NamedTuple):
    """A file that an earlier run wrote, and that is the same now.

    Attributes:
        digest: of its bytes.
        imports: the modules of the runtime that it imports.
    """

    digest: str
    imports: tuple[str, ...] = ()


class Made(bytes):
    """The bytes of a file that this run made; their digest is taken once.

    Attributes:
        digest: empty until somebody asks for it.
    """

    digest: str = ""


Output = bytes | Kept


def made(data: Output) -> Output:
    """The same, with room for what is found out of it."""
    return Made(data) if data.__class__ is bytes else data


def digest(data: Output) -> str:
    """`sha256:` and the hexadecimal digest."""
    if isinstance(data, Kept):
        return data.digest
    if not isinstance(data, Made):
        return _sha256(data)
    if not data.digest:
        data.digest = _sha256(data)
    return data.digest


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


def runtime_imports(path: str, data: Output) -> list[str]:
    """The modules of the runtime that a generated file imports."""
    if isinstance(data, Kept):
        return list(data.imports)
    if not path.endswith(".py"):
        return []
    names = set()
    for found in _RUNTIME.finditer(data):
        start = found.start()
        if _FROM.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start):
            names.add(found[1].decode())
    return sorted(names)


def only_named(files: Mapping[str, Output]) -> dict[str, Output]:
    """The files by their digests alone, so that their bytes can be let go."""
    return {path: Kept(digest(data)) for path, data in files.items()}

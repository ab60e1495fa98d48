"""The pack: what a run found out, in one file, so that the next one need not.

It is JSON and text, never code, and belongs to one index: with another one beside it, or
with none, it is not used. Each run replaces it, so that it never grows beyond one run's
results.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..extensions import any_loaded, none_installed
from ..output.kept import Output, digests_of
from ..project import WORKSPACE_FILE
from .index import CACHE_FOLDER, is_current, read_index, replace
from .look import is_same, look_at
from .memory import Memory
from .seen import Look, Watched
from .stored import Section, Stored
from .texts import keep_texts, stored_texts

__all__ = ["Pack", "no_pack", "open_pack", "write_pack"]

_FILE = "pack"
_FORMAT = b"toolcast pack 4\n"


class Pack:
    """What earlier runs left.

    Attributes:
        memory: what they found out.
        digests: what they wrote, each file's digest by its path below the output folder.
        code: the paths at which they looked for code; what the memory says of code comes
            from those.
        outputs: how the output folder looked then, None without an earlier run; what the
            memory says of outputs holds only while it still looks the same.
        generator: how the generator looks, when it was looked at in this run.
    """

    def __init__(
        self,
        memory: Memory,
        digests: Mapping[str, str],
        code: Sequence[str] = (),
        outputs: Look | None = None,
        generator: bytes = b"",
    ) -> None:
        self.memory = memory
        self.digests = digests
        self.code = code
        self.outputs = outputs
        self.generator = generator

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return self.outputs is None

    def forget(self) -> None:
        """Empties the pack: the outputs are not what it knows."""
        self.memory = self.memory.empty()
        self.digests, self.code, self.outputs = {}, (), None


def no_pack(root: str) -> Pack:
    """A pack without anything in it."""
    return Pack(Memory(root, {}, {}, same_code=False), {})


def open_pack(root: str) -> Pack:
    """The pack of a project, as far as it still holds; an empty one otherwise."""
    index = read_index(root)
    if index is None or not is_current(index):
        return no_pack(root)
    try:
        if not is_same(root, Look.from_bytes(index.looks[0])):
            return no_pack(root)
        with open(os.path.join(root, CACHE_FOLDER, _FILE), "rb") as stream:
            data = stream.read()
        if not data.startswith(_FORMAT):
            return no_pack(root)
        end = data.index(b"\n", len(_FORMAT)) + 1
        head: dict[str, Any] = json.loads(data[len(_FORMAT) : end])
        if head["run"] != index.pack:
            return no_pack(root)
        files = index.inputs.files
        # The first of the files is the workspace's; the others are code.
        if not _is_same(root, head["frame"]):
            return no_pack(root)
        if not head["extended"]:
            none_installed()
        same_code = _is_same(root, head["code"])
        digests, sections = _parted(memoryview(data)[end:], head["sections"])
        for folder, texts in stored_texts(root, head["texts"]).items():
            sections[folder].update(texts)
        memory = Memory(root, sections, digests, same_code=same_code)
        # Changed code is read again by every rule that reads code, and noted again with it.
        code = files[1:] if same_code else []
        outputs = Look.from_bytes(index.looks[2])
        return Pack(memory, digests, code, outputs, index.looks[0])
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ):
        # Whatever it is, it is no pack that can be used.
        return no_pack(root)


def write_pack(
    root: str,
    memory: Memory,
    files: Mapping[str, Output],
    code: list[str],
    trees: list[str],
) -> str:
    """Writes the pack of a run as a whole, and gives its name for the index.

    Args:
        files: what the run gave.
        code: the paths at which code was looked for.
        trees: the folders of the project's own templates.

    Raises:
        OSError: it cannot be written.
    """
    os.makedirs(os.path.join(root, CACHE_FOLDER), exist_ok=True)
    run = os.urandom(16).hex()
    digests = json.dumps(digests_of(files)).encode("ascii")
    packed = memory.packed()
    texts = keep_texts(root, packed, run)
    rest = {
        folder: {
            name: bytes_
            for name, bytes_ in sections.items()
            if name not in texts[1][folder]
        }
        for folder, sections in packed.items()
    }
    head = {
        "run": run,
        "frame": _frame(root, trees),
        "code": _code(root, code),
        "extended": any_loaded(),
        "texts": texts,
        "sections": [
            len(digests),
            {
                folder: {name: len(section) for name, section in sections.items()}
                for folder, sections in rest.items()
            },
        ],
    }
    parts: list[bytes | memoryview] = [
        _FORMAT,
        json.dumps(head).encode("ascii"),
        b"\n",
        digests,
    ]
    parts += [
        bytes(section) if isinstance(section, Stored) else section
        for one in rest.values()
        for section in one.values()
    ]
    replace(os.path.join(root, CACHE_FOLDER, _FILE), parts)
    return run


def _parted(
    data: memoryview, lengths: list[Any]
) -> tuple[dict[str, str], dict[str, dict[str, Section]]]:
    """The digests of files, and the sections of each toolset, that follow the head.

    Raises:
        ValueError: there is more or less of them.
    """
    start, toolsets = lengths
    digests = json.loads(bytes(data[:start]))
    sections: dict[str, dict[str, Section]] = {}
    for folder, names in toolsets.items():
        sections[folder] = {}
        for name, length in names.items():
            sections[folder][name] = data[start : start + length]
            start += length
    if start != len(data) or not {str, *map(type, digests.values())} == {str}:
        raise ValueError("a pack has other sections than its head says")
    return digests, sections


def _frame(root: str, trees: list[str]) -> str:
    """How everything looks that every result depends on."""
    return _seen(root, Watched([WORKSPACE_FILE], [], trees))


def _code(root: str, files: list[str]) -> str:
    return _seen(root, Watched(files, [], []))


def _is_same(root: str, seen: str) -> bool:
    return is_same(root, Look.from_bytes(bytes.fromhex(seen)))


def _seen(root: str, watched: Watched) -> str:
    return look_at(root, watched).to_bytes().hex()

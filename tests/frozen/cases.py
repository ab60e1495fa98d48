"""The projects that the frozen rows are about, as they were when these were written.

They were taken from the cases of rules, their examples, what the tests of handlers lay out, the
lists of real servers, the functions and the cases of `diff`, which may go on without them.

A file of `inputs/` has the texts of many projects, each text once, and for every case which of
them stands under which path. Cases of changes have two projects, `before/` and `after/`. The
hostile projects are those of `tests/hostile/`, which can hold any bytes; `hostile.json` names
those that there were.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.repository import MISSING
from tests.safety.hostile_cases import lay_out

__all__ = ["Tree", "cases_of", "hostile_cases", "lay_out", "text_of", "write"]

HERE = Path(__file__).parent / "inputs"

Tree = Mapping[str, Any]
"""Files by path: a text, `{"link": target}` or `{"pipe": true}`."""


def text_of(folder: Path, name: str) -> str:
    """What a file holds that is compressed when it is large."""
    packed = folder / f"{name}.gz"
    if packed.exists():
        return gzip.decompress(packed.read_bytes()).decode("utf-8")
    return (folder / name).read_text("utf-8")


def cases_of(name: str) -> dict[str, Tree]:
    """The projects of a file of `inputs/`, by case."""
    packed = json.loads(text_of(HERE, f"{name}.json"))
    texts = packed["texts"]
    trees = {
        case: {
            path: texts[content] if isinstance(content, int) else content
            for path, content in tree.items()
        }
        for case, tree in packed["cases"].items()
    }
    return {case: tree for case, tree in trees.items() if not _lists_missing(tree)}


def _lists_missing(tree: Tree) -> bool:
    """Whether a project lists an extension of this repository that is not installed."""
    return any(
        re.search(rf'extensions"?: \[[^\]]*\b{name}\b', text)
        for name in MISSING
        for path, text in tree.items()
        if path.endswith("toolcast.yaml") and isinstance(text, str)
    )


def hostile_cases() -> list[str]:
    """The names of the hostile projects that there were."""
    names: list[str] = json.loads(text_of(HERE, "hostile.json"))
    return names


def write(tree: Tree, root: Path) -> Path:
    """Lays a project out."""
    for path, content in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.write_bytes(content.encode("utf-8", "surrogateescape"))
        elif "link" in content:
            target.symlink_to(content["link"])
        else:
            os.mkfifo(target)
    return root

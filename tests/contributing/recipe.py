"""Reads a recipe of CONTRIBUTING.md: the files to write, the edits and the commands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Step", "steps_of"]

_BLOCK = re.compile(
    r"(?:^ *`(?P<path>[^`\n]+)`:\n\n)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """One block of a recipe.

    Attributes:
        path: the file that the block is about; empty for commands.
        language: `sh` for commands, `diff` for an edit, else the text is the whole file.
    """

    path: str
    language: str
    text: str

    def edit(self, root: Path) -> None:
        """Writes the file, or replaces the lines with `-` by those with `+`."""
        target = root / self.path
        if self.language != "diff":
            assert not target.exists(), f"{self.path} is there already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.text, encoding="utf-8")
            return
        old, new = (
            "".join(
                f"{line[1:]}\n" for line in self.text.splitlines() if line[0] == sign
            )
            for sign in "-+"
        )
        there = target.read_text(encoding="utf-8")
        assert there.count(old) == 1, f"{self.path} does not have once:\n{old}"
        target.write_text(there.replace(old, new), encoding="utf-8")


def steps_of(page: str, title: str) -> Iterator[Step]:
    """The blocks below a heading, in order."""
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for block in _BLOCK.finditer(section):
        path = block["path"] or ""
        assert bool(path) != (block["language"] == "sh"), block[0]
        yield Step(path, block["language"], textwrap.dedent(block["text"]))

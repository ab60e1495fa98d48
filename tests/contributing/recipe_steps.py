"""Steps of a recipe in CONTRIBUTING.md: files, edits and commands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Step", "read_steps"]

_BLOCK = re.compile(
    r"(?:^ *`(?P<path>[^`\n]+)`:\n\n)?"
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\w+)\n(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Step:
    """A code block of a recipe.

    Attributes:
        path: File that the block creates or edits; empty for commands.
        language: `sh` for commands, `diff` for an edit, otherwise the language of the file.
    """

    path: str
    language: str
    text: str

    def apply(self, root: Path) -> None:
        """Write the file, or replace the `-` lines of a diff by its `+` lines."""
        target = root / self.path
        if self.language != "diff":
            assert not target.exists(), f"{self.path} already exists"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.text, encoding="utf-8")
            return
        old, new = (
            "".join(
                f"{line[1:]}\n" for line in self.text.splitlines() if line[0] == sign
            )
            for sign in "-+"
        )
        text = target.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"not exactly once in {self.path}:\n{old}"
        target.write_text(text.replace(old, new), encoding="utf-8")


def read_steps(page: str, title: str) -> Iterator[Step]:
    """Yield the steps in the section with a title, in order."""
    section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for block in _BLOCK.finditer(section):
        path = block["path"] or ""
        assert bool(path) != (block["language"] == "sh"), block[0]
        yield Step(path, block["language"], textwrap.dedent(block["text"]))

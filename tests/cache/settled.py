"""A project that a run has just left, and what may happen to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from toolcast.cache.index import unchanged
from toolcast.commands.entry import main

SPEC = """
summary: Greet somebody.
parameters:
  type: object
  properties: {name: {type: string, description: Who is greeted.}}
handler: handlers.toy:greet
"""
TOOLSET = "targets: {registry: {}, prompts: {}}\n"


def is_done(project: Any) -> bool:
    """Whether a run of this interpreter would end at once."""
    return unchanged(str(project.root)) is not None


def generate(root: Path) -> None:
    """`toolcast generate` in this process, which is quicker."""
    run = CliRunner().invoke(main, ["generate", "--project", str(root)])
    assert run.exit_code == 0, run.output


def in_place(path: Path, old: str, new: str) -> None:
    """A change that keeps the size and the time of the file."""
    before = path.stat()
    text = path.read_text("utf-8")
    assert old in text and len(old) == len(new)
    path.write_text(text.replace(old, new), "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

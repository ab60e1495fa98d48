"""The corpus of hostile projects: laid out, and run."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from toolcast.commands.command_group import main

CORPUS = Path(__file__).parents[1] / "hostile"


HANDLER = """\
from pathlib import Path

Path("trap-was-sprung").touch()


def run(**arguments: object) -> None:
    Path("trap-was-sprung").touch()
"""


def lay_out(case: str, root: Path) -> Path:
    """Puts the project of one hostile input into a folder.

    What no checkout should hold - huge files, odd bytes, odd names - is in the case's
    `built.json`: `text` in an `encoding`, bytes in `hex`, or `repeat` so many `times`
    between `before` and `after`, where `%d` is the turn; a `link`, a `pipe`. The handlers' module is a trap:
    whoever imports it leaves a file behind.
    """
    ignored = shutil.ignore_patterns("expected.txt", "built.json")
    shutil.copytree(CORPUS / case, root, ignore=ignored)
    built = CORPUS / case / "built.json"
    if built.exists():
        for path, recipe in json.loads(built.read_text("utf-8")).items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if "link" in recipe:
                target.symlink_to(recipe["link"])
            elif "pipe" in recipe:
                os.mkfifo(target)
            else:
                target.write_bytes(_built(recipe))
    handlers = root / "handlers_of_row"
    handlers.mkdir()
    (handlers / "__init__.py").touch()
    (handlers / "trap.py").write_text(HANDLER, "utf-8")
    return root


def _built(recipe: Mapping[str, Any]) -> bytes:
    if "hex" in recipe:
        return bytes.fromhex(recipe["hex"])
    if "text" in recipe:
        return str(recipe["text"]).encode(recipe.get("encoding", "utf-8"))
    part, times = recipe["repeat"], recipe["times"]
    turns = (part.replace("%d", str(turn)) for turn in range(times))
    middle = "".join(turns) if "%d" in part else part * times
    text = f"{recipe.get('before', '')}{middle}{recipe.get('after', '')}"
    return text.encode("utf-8")


@dataclass(frozen=True)
class Outcome:
    """What `toolcast generate` did: exit code, what it said of the specs, seconds."""

    code: int
    said: str
    seconds: float


def run_generate(root: Path, *words: str) -> Outcome:
    """Runs the command in this process; an exception that escapes it fails the test."""
    begin = time.perf_counter()
    result = CliRunner().invoke(
        main, ["generate", "--all", "--project", str(root), *words]
    )
    seconds = time.perf_counter() - begin
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stderr, seconds)

"""The corpus of hostile projects: copies of its cases, and runs of the generator."""

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


TRAP_HANDLER = """\
from pathlib import Path

Path("trap-was-sprung").touch()


def run(**arguments: object) -> None:
    Path("trap-was-sprung").touch()
"""


def copy_hostile_case(case: str, root: Path) -> Path:
    """Copy the project of a case to a folder.

    Content that a checkout should not contain (large files, invalid bytes, unusual
    names) is in the case's `built.json`: `text` with an `encoding`, bytes in `hex`,
    `repeat` with a number of `times` between `before` and `after`, where `%d` is
    replaced by the index, a `link`, or a `pipe`. The handlers' module is a trap: its
    import creates a file.
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
                target.write_bytes(build_content(recipe))
    handlers = root / "handlers_of_row"
    handlers.mkdir()
    (handlers / "__init__.py").touch()
    (handlers / "trap.py").write_text(TRAP_HANDLER, "utf-8")
    return root


def build_content(recipe: Mapping[str, Any]) -> bytes:
    if "hex" in recipe:
        return bytes.fromhex(recipe["hex"])
    if "text" in recipe:
        return str(recipe["text"]).encode(recipe.get("encoding", "utf-8"))
    pattern, times = recipe["repeat"], recipe["times"]
    repetitions = (pattern.replace("%d", str(index)) for index in range(times))
    middle = "".join(repetitions) if "%d" in pattern else pattern * times
    text = f"{recipe.get('before', '')}{middle}{recipe.get('after', '')}"
    return text.encode("utf-8")


@dataclass(frozen=True)
class Outcome:
    """The exit code of `toolcast generate`, its error output, and its CPU time."""

    code: int
    output: str
    cpu_seconds: float


def run_generate(root: Path, *options: str) -> Outcome:
    """Run the command in this process; raise an exception that it does not catch."""
    started = time.process_time()
    result = CliRunner().invoke(
        main, ["generate", "--all", "--project", str(root), *options]
    )
    cpu_seconds = time.process_time() - started
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Outcome(result.exit_code, result.stderr, cpu_seconds)

"""Every hostile input of the corpus, through every target, by the command itself.

A case is a folder of `tests/hostile/`: a project, and in `expected.txt` exactly what the
command says of it. `REGENERATE=1` writes those files anew; read the difference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import black
import pytest

from toolcast.reading.yaml_reader import read_yaml

CORPUS = Path(__file__).parents[1] / "hostile"
CASES = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
REFUSED = "nothing was written\n"
MODE = black.Mode(target_versions={black.TargetVersion.PY311})

# A run takes less than a second on a quiet machine; this one may be busy.
MOST_SECONDS = 10


def files_of(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def is_accepted(case: str) -> bool:
    expected = CORPUS / case / "expected.txt"
    said = expected.read_text("utf-8") if expected.exists() else ""
    return not said.endswith(REFUSED) and " error" not in said.rpartition("\n ")[2]


ACCEPTED = [case for case in CASES if is_accepted(case)]


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_and_done(
    case: str, hostile: Callable[[str], Path], generated_by: Callable[..., Any]
) -> None:
    root = hostile(case)
    before = files_of(root)
    outcome = generated_by(root)
    expected = CORPUS / case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(outcome.said, "utf-8")
    assert outcome.said == expected.read_text("utf-8")
    assert outcome.said.isprintable() or set(outcome.said) - {"\n"}
    assert outcome.seconds < MOST_SECONDS
    if outcome.code == 0:
        assert (root / "generated" / "MANIFEST.json").is_file()
    else:
        assert outcome.code in (1, 2)
        assert files_of(root) == before

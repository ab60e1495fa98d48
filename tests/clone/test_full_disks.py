"""A file that cannot be written is named, not the folder from which a command was called.

The limit on the size of a process's files stands for a full disk: the system refuses the rest
of a file in the same way, with another number.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Clone

LIMITED = """
import resource, sys
from toolcast.commands.main import main
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), hard))
sys.argv[0] = "toolcast"
main()
"""


def run(folder: Path, most: int, *words: str) -> subprocess.CompletedProcess[str]:
    """A command that may write files of so many bytes."""
    return subprocess.run(
        [sys.executable, "-B", "-c", LIMITED, str(most), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_generate_names_the_file(clone: Clone) -> None:
    spec = clone.root / "specs/toy/greet.yaml"
    text = spec.read_text("utf-8").replace("Greet somebody.", "Greet anybody.")
    spec.write_text(text, encoding="utf-8")
    before = files(clone.root)
    done = run(clone.root, 64, "generate")
    assert done.returncode == 2
    assert done.stderr == "error: generated/toy/prompts/preamble.md: File too large\n"
    assert files(clone.root) == before


def test_new_names_the_file_and_takes_back_the_others(clone: Clone) -> None:
    before = files(clone.root)
    done = run(clone.root, 64, "new", "wave")
    assert done.returncode == 2
    assert done.stderr == (
        "error: specs/toy/wave.yaml: File too large; nothing was written\n"
    )
    assert files(clone.root) == before


def test_init_names_the_file_and_takes_back_the_others(tmp_path: Path) -> None:
    done = run(tmp_path, 600, "init", "demo")
    assert done.returncode == 2
    assert re.fullmatch(
        r"error: specs/demo/\w+\.yaml: File too large; nothing was written\n",
        done.stderr,
    )
    assert list((tmp_path / "demo").iterdir()) == []


def test_schema_names_the_file_and_leaves_what_was_there(clone: Clone) -> None:
    schema = clone.root / "specs/schemas/tool.schema.json"
    schema.write_text(schema.read_text("utf-8") + "\n", encoding="utf-8")
    before = files(clone.root)
    done = run(clone.root, 64, "schema", "--write")
    assert done.returncode == 2
    assert done.stderr == "error: specs/schemas/tool.schema.json: File too large\n"
    assert files(clone.root) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("place", ["generated/toy/tools", "specs/toy"])
def test_a_folder_that_is_closed_is_named(clone: Clone, place: str) -> None:
    spec = clone.root / "specs/toy/greet.yaml"
    spec.write_text(spec.read_text("utf-8").replace("Greet s", "Greet S"), "utf-8")
    (clone.root / place).chmod(0o555)
    command = ("new", "wave") if place.startswith("specs") else ("generate",)
    done = clone.run(*command)
    (clone.root / place).chmod(0o755)
    assert done.returncode == 2
    assert f"error: {place}/" in done.stderr and "Permission denied" in done.stderr

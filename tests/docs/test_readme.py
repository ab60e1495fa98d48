"""The README's first project and its pull request are real: each block is made again here.

`REGENERATE=1 pytest tests/docs` writes the blocks that follow from a run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
TOOLCAST = [sys.executable, "-m", "toolcast"]
GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost"]
SPEC, HANDLER = "specs/my_tools/count_words.yaml", "handlers/count_words.py"


def block(marker: str) -> str:
    """The fenced block behind a comment."""
    found = re.search(
        rf"<!-- {re.escape(marker)} -->\n```\w*\n(.*?)^```$",
        README.read_text("utf-8"),
        re.M | re.S,
    )
    assert found is not None, marker
    return found[1]


@dataclass(frozen=True)
class Story:
    """What the README tells, as it really happens.

    Attributes:
        files: the new project's files after `toolcast generate`, by path.
        blocks: the README's blocks that follow from it, by their marker.
    """

    files: Mapping[str, str]
    blocks: Mapping[str, str]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("readme")
    run([*TOOLCAST, "init", "my-tools"], folder)
    root = folder / "my-tools"
    run([*TOOLCAST, "generate"], root)
    files = {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
    run([*GIT, "init", "--quiet"], root)
    run([*GIT, "add", "--all"], root)
    run([*GIT, "commit", "--quiet", "--message", "A new project"], root)
    change = by_file(block("your change"))
    assert set(change) == {SPEC, HANDLER}
    run([*GIT, "apply", "-C1"], root, change[SPEC])
    finding = run([*TOOLCAST, "generate"], root, code=1).partition("1 error")[0]
    run([*GIT, "apply", "-C1"], root, change[HANDLER])
    run([*TOOLCAST, "generate"], root)
    diff = by_file(run([*GIT, "diff", "--unified=1"], root))
    assert {SPEC: diff.pop(SPEC), HANDLER: diff.pop(HANDLER)} == change
    blocks = {
        "finding": finding,
        "generated change": "".join(diff.values()),
        "generated files": table(files),
    }
    return Story(files, blocks)


def run(words: list[str], folder: Path, stdin: str = "", code: int = 0) -> str:
    """What a command prints."""
    done = subprocess.run(
        words, cwd=folder, input=stdin, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def by_file(diff: str) -> dict[str, str]:
    """The parts of a diff by their files, without git's lines before each."""
    bare = re.sub(r"^(diff|index) .*\n", "", diff, flags=re.M)
    parts = re.split(r"^(?=--- a/)", bare, flags=re.M)[1:]
    return {part.partition("\n")[0].removeprefix("--- a/"): part for part in parts}


def table(files: Mapping[str, str]) -> str:
    """The generated files with their lines, and the sum."""
    rows = {
        path: text.count("\n")
        for path, text in files.items()
        if path.startswith("generated/")
    }
    rows[f"{len(rows)} files"] = sum(rows.values())
    width = max(map(len, rows))
    return "".join(f"{path:{width}}  {lines:3} lines\n" for path, lines in rows.items())


@pytest.mark.parametrize("marker", ["finding", "generated change", "generated files"])
def test_a_block_is_what_happens(story: Story, marker: str) -> None:
    if os.environ.get("REGENERATE"):
        text = README.read_text("utf-8")
        README.write_text(text.replace(block(marker), story.blocks[marker]), "utf-8")
    assert block(marker) == story.blocks[marker], "REGENERATE=1 pytest tests/docs"


def test_excerpts_of_the_new_project_stand_in_its_files(story: Story) -> None:
    excerpts = re.findall(
        r"<!-- new project: (\S+) -->\n```\w*\n(.*?)^```$",
        README.read_text("utf-8"),
        re.M | re.S,
    )
    assert len(excerpts) >= 4
    for path, excerpt in excerpts:
        at = 0
        for part in re.split(r"^\.\.\.\n", excerpt, flags=re.M):
            found = story.files[path].find(part, at)
            assert found >= 0, f"{path} has no\n{part}"
            at = found + len(part)

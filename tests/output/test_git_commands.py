"""After any git command left-over outputs are known as our own, and nothing is called foreign."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from .conftest import PART, contents

Run = Callable[..., Result]
Git = Callable[..., str]

# What was done with a new tool and a changed one before the git command, and the command.
LEAVES = {
    "stash": ("nothing", ["stash"]),
    "stash of what is staged": ("add", ["stash"]),
    "stash of all": ("nothing", ["stash", "--include-untracked"]),
    "checkout of files": ("nothing", ["checkout", "--quiet", "."]),
    "restore": ("nothing", ["restore", "."]),
    "restore of what is staged": ("add", ["restore", "--staged", "--worktree", "."]),
    "switch": ("commit", ["switch", "--quiet", "main"]),
    "checkout of a branch": ("commit", ["checkout", "--quiet", "main"]),
    "checkout of a commit": ("commit", ["checkout", "--quiet", "HEAD~1"]),
    "hard reset": ("commit", ["reset", "--quiet", "--hard", "HEAD~1"]),
    "hard reset of what is staged": ("add", ["reset", "--quiet", "--hard"]),
    "mixed reset": ("commit", ["reset", "--quiet", "HEAD~1"]),
    "soft reset": ("commit", ["reset", "--quiet", "--soft", "HEAD~1"]),
    "revert": ("commit", ["revert", "--no-edit", "HEAD"]),
    "removal from the index": ("commit", ["rm", "-rq", "--cached", "generated"]),
    "clean": ("nothing", ["clean", "-fdq"]),
}


def work(small: Any, run: Run, git: Git, done: str) -> None:
    """A branch on which one tool is new, one changed and one gone."""
    git("switch", "--quiet", "--create", "work")
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet everybody.")
    (small.root / "specs/toy/part.yaml").unlink()
    assert run("generate").exit_code == 0
    if done in ("add", "commit"):
        git("add", ".")
    if done == "commit":
        git("commit", "--quiet", "-m", "work")


# Each command meets one of the three halves; the slow tests have all pairs.
HALVES = ("", "specs back", "outputs back")
PAIRS = [
    pytest.param(name, half, marks=[pytest.mark.slow] if (c + h) % 3 else [])
    for c, name in enumerate(LEAVES)
    for h, half in enumerate(HALVES)
]


@pytest.mark.rows(4)
@pytest.mark.parametrize(("name", "half"), PAIRS)
def test_the_next_run_heals_without_force(
    small: Any, run: Run, git: Git, name: str, half: str
) -> None:
    done, command = LEAVES[name]
    work(small, run, git, done)
    said = git(*command)
    assert "fatal" not in said and "error" not in said, said
    # As when somebody takes back a part only.
    if half == "specs back":
        git("checkout", "--quiet", "main", "--", "specs")
    elif half == "outputs back":
        git("checkout", "--quiet", "main", "--", "generated")
    checked = run("check")
    assert "output/foreign-file" not in checked.stderr
    assert "Traceback" not in checked.stderr
    healed = run("generate")
    assert healed.exit_code == 0, healed.stderr
    assert run("check").exit_code == 0


@pytest.mark.rows(4)
@pytest.mark.parametrize("name", LEAVES)
def test_without_a_stamp_nothing_is_lost_or_called_foreign(
    small: Any, run: Run, git: Git, own_cache: Path, name: str
) -> None:
    """On another machine, or with an empty cache: what git has not is left, and named."""
    done, command = LEAVES[name]
    work(small, run, git, done)
    git(*command)
    shutil.rmtree(own_cache)
    before = contents(small.root)
    ran = run("generate")
    assert "output/foreign-file" not in ran.stderr
    if ran.exit_code:
        assert "output/outdated" in ran.stderr
        assert contents(small.root) == before
        assert run("generate", "--force").exit_code == 0
    assert run("check").exit_code == 0

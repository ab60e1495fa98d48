"""Outputs after git commands: recognized as generated, never reported as foreign."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from .conftest import PART, read_outputs

Run = Callable[..., Result]
Git = Callable[..., str]

# The state of the changes before the git command, and the command. `toolcast` reads only
# the files and the index: each command changes them in another way.
GIT_COMMANDS = {
    "stash": ("nothing", ["stash"]),
    "stash of what is staged": ("add", ["stash"]),
    "stash of all": ("nothing", ["stash", "--include-untracked"]),
    "checkout of files": ("nothing", ["checkout", "--quiet", "."]),
    "switch": ("commit", ["switch", "--quiet", "main"]),
    "mixed reset": ("commit", ["reset", "--quiet", "HEAD~1"]),
    "soft reset": ("commit", ["reset", "--quiet", "--soft", "HEAD~1"]),
    "revert": ("commit", ["revert", "--no-edit", "HEAD"]),
    "removal from the index": ("commit", ["rm", "-rq", "--cached", "generated"]),
    "clean": ("nothing", ["clean", "-fdq"]),
}


def make_work_branch(small: Any, run: Run, git: Git, state: str) -> None:
    """Make a branch with an added, a changed and a removed tool."""
    git("switch", "--quiet", "--create", "work")
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet everybody.")
    (small.root / "specs/toy/part.yaml").unlink()
    assert run("generate").exit_code == 0
    if state in ("add", "commit"):
        git("add", ".")
    if state == "commit":
        git("commit", "--quiet", "-m", "work")


# Each command is tested with one of three partial restores; the slow tests have all
# pairs.
PARTIAL_RESTORES = ("", "specs back", "outputs back")
PAIRS = [
    pytest.param(name, restored, marks=[pytest.mark.slow] if (c + h) % 3 else [])
    for c, name in enumerate(GIT_COMMANDS)
    for h, restored in enumerate(PARTIAL_RESTORES)
]


@pytest.mark.rows(4)
@pytest.mark.parametrize(("name", "restored"), PAIRS)
def test_generate_without_force_updates_the_outputs_after_any_git_command(
    small: Any, run: Run, git: Git, name: str, restored: str
) -> None:
    done, command = GIT_COMMANDS[name]
    make_work_branch(small, run, git, done)
    output = git(*command)
    assert "fatal" not in output and "error" not in output, output
    # A user may restore only specs or only outputs.
    if restored == "specs back":
        git("checkout", "--quiet", "main", "--", "specs")
    elif restored == "outputs back":
        git("checkout", "--quiet", "main", "--", "generated")
    checked = run("check")
    assert "output/foreign-file" not in checked.stderr
    assert "Traceback" not in checked.stderr
    generated = run("generate")
    assert generated.exit_code == 0, generated.stderr
    assert run("check").exit_code == 0


@pytest.mark.rows(4)
@pytest.mark.parametrize("name", GIT_COMMANDS)
def test_generate_without_cache_after_a_git_command_loses_no_output(
    small: Any, run: Run, git: Git, own_cache: Path, name: str
) -> None:
    """Outputs that git does not have are reported as outdated and kept."""
    done, command = GIT_COMMANDS[name]
    make_work_branch(small, run, git, done)
    git(*command)
    shutil.rmtree(own_cache)
    before = read_outputs(small.root)
    generated = run("generate")
    assert "output/foreign-file" not in generated.stderr
    if generated.exit_code:
        assert "output/outdated" in generated.stderr
        assert read_outputs(small.root) == before
        assert run("generate", "--force").exit_code == 0
    assert run("check").exit_code == 0

"""`toolcast git-diff-driver`, as git calls it, and by git itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.program import toolcast

TOOL = "name: a\nsummary: Do nothing.\nparameters: {type: object}\n"
Make = Callable[..., Any]


@pytest.fixture
def project(make_project: Make) -> Any:
    made = make_project({"b": "summary: Do it.\nparameters: {type: object}\n"})
    made.write("specs/toy/a.yaml", TOOL)
    return made


def shown(
    project: Any,
    old: str | None,
    new: str | None,
    *more: str,
    path: str = "specs/toy/a.yaml",
) -> str:
    """What the driver prints for a file, called as git calls it."""
    files = []
    for name, text in (("old", old), ("new", new)):
        file = project.root.parent / name
        if text is not None:
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
        files.append(str(file) if text is not None else "/dev/null")
    words = [
        path,
        files[0],
        "1" * 40,
        "100644",
        files[1],
        "2" * 40,
        "100644",
    ]
    done = toolcast(project.root, "git-diff-driver", *words, *more)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("toolcast diff specs/toy/")
    return done.stdout


def test_a_change_is_told_by_its_meaning(project: Any) -> None:
    said = shown(project, TOOL, TOOL + "timeout: 5\n")
    assert "toy/a\n  call      prompt    code      attachment\n" in said
    assert "run/timeout" in said
    assert "`b`" not in said and "toy/b" not in said


def test_a_tool_comes_and_goes(project: Any) -> None:
    assert "tool/added" in shown(project, None, TOOL)
    assert "tool/removed" in shown(project, TOOL, None)


def test_a_renamed_file_is_one_change(project: Any) -> None:
    new = TOOL.replace("name: a", "name: c\nrenamed_from: [a]")
    said = shown(project, TOOL, new, "specs/toy/c.yaml", "similarity index 90%")
    assert said.startswith("toolcast diff specs/toy/c.yaml\n")
    assert "tool/renamed" in said and "tool/removed" not in said


def test_a_changed_definition_is_told_at_each_tool_that_uses_it(project: Any) -> None:
    uses = 'parameters: {type: object, properties: {n: {$ref: "#/$defs/shared/n"}}}\n'
    for name in ("a", "b"):
        project.write(f"specs/toy/{name}.yaml", f"name: {name}\nsummary: Do.\n{uses}")
    project.write("specs/toy/c.yaml", TOOL.replace("name: a", "name: c"))
    old, new = "n: {type: integer}\n", "n: {type: integer, minimum: 1}\n"
    said = shown(project, old, new, path="specs/toy/definitions.yaml")
    assert said.count('`{"n": 0}` was accepted') == 2
    assert "toy/a\n" in said and "toy/b\n" in said and "toy/c" not in said


def test_what_means_the_same_is_shown_by_its_lines(project: Any) -> None:
    said = shown(project, TOOL, TOOL + "# A comment.\n")
    assert "+# A comment." in said and "--- a/specs/toy/a.yaml" in said


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (TOOL.replace("summary", "sumary"), "the key `summary` is missing"),
        (TOOL.replace("name: a", "name: x"), "the file of the tool `x`"),
        ("{", "by its lines, since"),
        ("<<<<<<< ours\n=======\n>>>>>>> theirs\n", "merge conflict"),
    ],
)
def test_a_spec_in_work_is_shown_by_its_lines(
    project: Any, text: str, why: str
) -> None:
    said = shown(project, TOOL, text)
    assert why in said
    assert "--- a/specs/toy/a.yaml\n+++ b/specs/toy/a.yaml\n@@ " in said


@pytest.mark.parametrize("text", ["\udcff\udcfe", "a: \x1b[31m\u202e\n"])
def test_bytes_that_could_steer_a_terminal_do_not(project: Any, text: str) -> None:
    said = shown(project, TOOL, text)
    assert said.replace("\n", "").isprintable()


def test_a_file_that_is_no_spec_is_shown_by_its_lines(project: Any) -> None:
    old, new = project.root / "old.txt", project.root / "new.txt"
    old.write_text("a\n")
    new.write_text("b\n")
    words = ["notes.yaml", str(old), "1", "100644", str(new), "2", "100644"]
    said = toolcast(project.root, "git-diff-driver", *words).stdout
    assert "it is no spec of the project" in said and "-a\n+b\n" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["specs/toy/a.yaml"], "it is not merged"),
        (["a.yaml", "nowhere", "1", "1", "nowhere", "2", "2"], "it cannot be read"),
    ],
)
def test_whatever_git_gives_the_driver_ends_well(
    project: Any, words: list[str], message: str
) -> None:
    done = toolcast(project.root, "git-diff-driver", *words)
    assert done.returncode == 0
    assert message in done.stdout


def test_a_pager_that_is_closed_is_no_failure(project: Any) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    old = project.root / "old"
    old.write_text(TOOL)
    words = ["specs/toy/a.yaml", str(old), "1", "100644", "/dev/null", "2", "."]
    code = "from toolcast.commands.entry import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "git-diff-driver", *words],
        cwd=project.root, stdout=theirs, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_person_who_runs_it_is_told_that_git_does(project: Any) -> None:
    done = toolcast(project.root, "git-diff-driver")
    assert done.returncode == 2
    assert "git runs this" in done.stderr


@pytest.mark.slow
def test_git_runs_it_in_a_repository(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        done = subprocess.run(
            ["git", *identity, *words], cwd=tmp_path, env=kept, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    git("init", "--quiet")
    project = tmp_path / "services" / "agent"
    project.mkdir(parents=True)
    assert toolcast(project, "init", "--name", "demo").returncode == 0
    git("add", ".")
    git("commit", "--quiet", "-m", "base")
    spec = project / "specs" / "demo" / "count_words.yaml"
    spec.write_text(spec.read_text().replace("summary: Count", "summary: Number"))
    # The attribute alone changes nothing: git runs what a clone's own configuration names.
    assert "+summary: Number" in git("diff")
    git(
        "config",
        "diff.toolcast.command",
        f"'{sys.executable}' -m toolcast git-diff-driver",
    )
    said = git("diff")
    assert said.startswith("toolcast diff services/agent/specs/demo/count_words.yaml\n")
    assert "demo/count_words\n" in said and "+summary" not in said
    git("mv", str(spec), str(spec.with_name("word_count.yaml")))
    git("commit", "--quiet", "-am", "rename")
    assert "the file of the tool" in git("show", "--ext-diff")

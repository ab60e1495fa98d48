"""What `generate` overwrites and deletes: only bytes that can be had back."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from .conftest import PART, contents

DEFINITION = "generated/toy/tools/greet.json"
TOOL = "generated/toy/tools/greet.py"
Run = Callable[..., Result]
Git = Callable[..., str]


def change(
    small: Any, old: str = "Greet somebody.", new: str = "Greet someone."
) -> None:
    small.edit("specs/toy/greet.yaml", old, new)


def edit(small: Any, path: str = TOOL) -> Path:
    edited: Path = small.root / path
    edited.write_bytes(edited.read_bytes() + b"\n# mine\n")
    return edited


def test_what_an_earlier_run_left_is_overwritten(small: Any, run: Run) -> None:
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_what_neither_git_nor_a_run_has_is_named_and_left(
    small: Any, run: Run, own_cache: Path
) -> None:
    shutil.rmtree(own_cache)
    change(small)
    before = contents(small.root)
    refused = run("generate")
    assert refused.exit_code == 1
    assert refused.stderr.count(f"{DEFINITION}: error: output/outdated: ") == 1
    assert refused.stderr.endswith("nothing was written\n")
    assert contents(small.root) == before
    # The bytes that are right pass without anybody knowing them.
    change(small, "Greet someone.", "Greet somebody.")
    assert run("generate").exit_code == 0


def test_what_git_has_is_overwritten_without_any_stamp(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    shutil.rmtree(own_cache)
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_an_edit_is_named_and_left_until_it_is_in_the_index(
    small: Any, run: Run, git: Git
) -> None:
    edited = edit(small)
    refused = run("generate")
    assert refused.exit_code == 1
    assert f"{TOOL}: error: output/outdated: " in refused.stderr
    assert edited.read_text().endswith("# mine\n")
    git("add", TOOL)
    assert run("generate").exit_code == 0
    assert "# mine" not in edited.read_text()


def test_force_overwrites_an_edit(small: Any, run: Run) -> None:
    edited = edit(small)
    assert run("generate").exit_code == 1
    forced = run("generate", "--force")
    assert (forced.exit_code, "(1 written," in forced.stdout) == (0, True)
    assert "# mine" not in edited.read_text()
    assert run("check").exit_code == 0


def test_nothing_is_written_when_one_file_is_refused(small: Any, run: Run) -> None:
    edit(small)
    change(small)
    before = contents(small.root)
    assert run("generate").exit_code == 1
    assert contents(small.root) == before


def test_of_an_edited_orphan_nothing_is_lost(small: Any, run: Run) -> None:
    edited = edit(small, "generated/toy/tools/part.py")
    (small.root / "specs/toy/part.yaml").unlink()
    refused = run("generate")
    assert refused.exit_code == 1
    assert "tools/part.py: error: output/outdated" in refused.stderr
    assert edited.exists()
    assert run("generate", "--force").exit_code == 0
    assert not edited.exists()
    assert run("check").exit_code == 0


def test_the_last_twenty_versions_of_a_file_are_known(small: Any, run: Run) -> None:
    versions = [(small.root / DEFINITION).read_bytes()]
    for number in range(21):
        old = f"Greet {number - 1}." if number else "Greet somebody."
        change(small, old, f"Greet {number}.")
        assert run("generate").exit_code == 0
        versions.append((small.root / DEFINITION).read_bytes())
    (small.root / DEFINITION).write_bytes(versions[2])
    assert run("generate").exit_code == 0
    (small.root / DEFINITION).write_bytes(versions[0])
    assert run("generate").exit_code == 1


def test_a_foreign_file_is_named_and_the_outputs_are_written(
    small: Any, run: Run
) -> None:
    note = small.write("generated/toy/notes.txt", "mine\n")
    change(small)
    done = run("generate")
    assert (done.exit_code, "(1 written," in done.stdout) == (1, False)
    assert "generated/toy/notes.txt: error: output/foreign-file" in done.stderr
    assert run("generate", "--force").exit_code == 0
    assert note.read_text() == "mine\n"


def test_a_foreign_file_in_an_outputs_place(small: Any, run: Run) -> None:
    theirs = small.write("generated/toy/tools/leave.py", "mine = 1\n")
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    refused = run("generate")
    assert refused.exit_code == 1
    assert (
        "leave.py: error: output/foreign-file: a generated file belongs here"
        in refused.stderr
    )
    assert "replace it with `toolcast generate --force`" in refused.stderr
    assert theirs.read_text() == "mine = 1\n"
    assert run("generate", "--force").exit_code == 0
    assert run("check").exit_code == 0


def test_left_overs_of_a_stash_are_removed(small: Any, run: Run, git: Git) -> None:
    """`git stash` takes back what git knows, and leaves the new files of a run."""
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    git("add", "specs")
    assert run("generate").exit_code == 0
    git("stash")
    assert (small.root / "generated/toy/tools/leave.py").exists()
    done = run("generate")
    assert (done.exit_code, "2 removed" in done.stdout) == (0, True), done.stderr
    assert run("check").exit_code == 0
    git("stash", "pop")
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_left_overs_of_a_checkout_are_removed_by_force_without_a_stamp(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    assert run("generate").exit_code == 0
    git("checkout", "--quiet", "-B", "other")
    (small.root / "specs/toy/leave.yaml").unlink()
    git("checkout", "--quiet", ".")
    shutil.rmtree(own_cache)
    refused = run("generate")
    assert refused.exit_code == 1
    assert "leave.py: error: output/outdated" in refused.stderr
    assert run("generate", "--force").exit_code == 0
    assert run("check").exit_code == 0


def conflict(small: Any, run: Run, git: Git) -> None:
    """A merge of two branches that changed one line of a prompt file."""
    git("checkout", "--quiet", "-b", "theirs")
    change(small, new="Greet anyone.")
    run("generate")
    git("commit", "--quiet", "--all", "-m", "theirs")
    git("checkout", "--quiet", "main")
    change(small, new="Greet everyone.")
    run("generate")
    git("commit", "--quiet", "--all", "-m", "ours")
    assert "CONFLICT" in git("merge", "theirs")


def test_a_merge_with_conflicts_heals(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    conflict(small, run, git)
    shutil.rmtree(own_cache)
    assert "<<<<<<<" in (small.root / DEFINITION).read_text()
    git("checkout", "--theirs", "specs/toy/greet.yaml")
    said = run("check").stderr
    assert "specs/toy/greet.yaml: error: output/outdated" in said
    assert "edited by hand" not in said
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0
    git("add", ".")
    assert "nothing to commit" not in git("commit", "-m", "merged")
    assert run("check").exit_code == 0


def test_a_merge_that_deletes_heals(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    git("checkout", "--quiet", "-b", "theirs")
    (small.root / "specs/toy/greet.yaml").unlink()
    run("generate")
    git("commit", "--quiet", "--all", "-m", "theirs")
    git("checkout", "--quiet", "main")
    change(small)
    run("generate")
    git("commit", "--quiet", "--all", "-m", "ours")
    assert "CONFLICT (modify/delete)" in git("merge", "theirs")
    shutil.rmtree(own_cache)
    git("rm", "--quiet", "specs/toy/greet.yaml")
    assert run("generate").exit_code == 0
    assert not (small.root / DEFINITION).exists()
    assert run("check").exit_code == 0


@pytest.mark.parametrize("format_", ["sha1", "sha256"])
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"])
def test_every_kind_of_repository_is_understood(
    small: Any, run: Run, git: Git, own_cache: Path, format_: str, ends: bytes
) -> None:
    shutil.rmtree(small.root / ".git")
    git("init", "--quiet", f"--object-format={format_}")
    git("config", "core.autocrlf", "true")
    git("add", ".")
    for path in (small.root / "generated").rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", ends))
    shutil.rmtree(own_cache)
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_a_project_in_a_folder_of_its_repository(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    git("rev-parse")
    (small.root / ".git").rename(small.root.parent / ".git")
    git("add", ".")
    shutil.rmtree(own_cache)
    change(small)
    assert run("generate").exit_code == 0


def test_an_unwritable_cache_folder_is_no_error(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    shutil.rmtree(own_cache)
    own_cache.write_text("a file")
    change(small)
    assert run("generate").exit_code == 0


def test_a_cache_folder_in_the_project_is_none(
    small: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(small.root / "cache"))
    change(small)
    assert run("generate").exit_code == 1
    assert not (small.root / "cache").exists()


def test_state_that_a_project_brings_is_none_of_ours(
    small: Any, run: Run, tmp_path: Path
) -> None:
    """Earlier versions kept a cache, a lock, a manifest and a journal in the project."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "lock").write_text("mine")
    (small.root / ".toolcast").symlink_to(victim)
    forged = '{"files": {"toy/tools/greet.json": "sha256:0", "../victim/lock": "x"}}'
    for name in ("MANIFEST.json", ".toolcast-run.json"):
        small.write(f"generated/{name}", forged)
    change(small)
    done = run("generate")
    assert done.exit_code == 1
    assert done.stderr.count("output/foreign-file: the file was not generated") == 2
    assert "2 errors" in done.stderr
    assert {path.name for path in victim.iterdir()} == {"lock"}
    assert (victim / "lock").read_text() == "mine"
    assert (small.root / "generated/MANIFEST.json").read_text() == forged

"""Files that `generate` overwrites and deletes: only those that can be recovered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from .conftest import PART, read_outputs

DEFINITION = "generated/toy/tools/greet.json"
TOOL = "generated/toy/tools/greet.py"
Run = Callable[..., Result]
Git = Callable[..., str]


def change(
    small: Any, old: str = "Greet somebody.", new: str = "Greet someone."
) -> None:
    small.edit("specs/toy/greet.yaml", old, new)


def append_comment(small: Any, path: str = TOOL) -> Path:
    edited: Path = small.root / path
    edited.write_bytes(edited.read_bytes() + b"\n# mine\n")
    return edited


def test_generate_does_not_overwrite_an_output_unknown_to_git_and_cache(
    small: Any, run: Run, own_cache: Path
) -> None:
    shutil.rmtree(own_cache)
    change(small)
    before = read_outputs(small.root)
    done = run("generate")
    assert done.exit_code == 1
    assert done.stderr.count(f"{DEFINITION}: error: output/outdated: ") == 1
    assert done.stderr.endswith("nothing was written\n")
    assert read_outputs(small.root) == before
    # A file with the expected bytes is accepted without git and cache.
    change(small, "Greet someone.", "Greet somebody.")
    assert run("generate").exit_code == 0


@pytest.mark.parametrize("is_writable", [True, False])
def test_generate_without_cache_overwrites_an_output_that_git_has(
    small: Any, run: Run, git: Git, own_cache: Path, is_writable: bool
) -> None:
    shutil.rmtree(own_cache)
    if not is_writable:
        own_cache.write_text("a file")
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_generate_overwrites_an_edited_output_only_if_git_add_stored_the_edit(
    small: Any, run: Run, git: Git
) -> None:
    edited = append_comment(small)
    refused = run("generate")
    assert refused.exit_code == 1
    assert f"{TOOL}: error: output/outdated: " in refused.stderr
    assert edited.read_text().endswith("# mine\n")
    git("add", TOOL)
    assert run("generate").exit_code == 0
    assert "# mine" not in edited.read_text()


def test_generate_force_overwrites_an_edited_output(small: Any, run: Run) -> None:
    edited = append_comment(small)
    change(small)
    before = read_outputs(small.root)
    assert run("generate").exit_code == 1
    assert read_outputs(small.root) == before
    forced = run("generate", "--force")
    assert (forced.exit_code, "(4 written," in forced.stdout) == (0, True)
    assert "# mine" not in edited.read_text()
    assert run("check").exit_code == 0


def test_generate_requires_force_to_remove_an_edited_output_whose_spec_was_removed(
    small: Any, run: Run
) -> None:
    edited = append_comment(small, "generated/toy/tools/part.py")
    (small.root / "specs/toy/part.yaml").unlink()
    refused = run("generate")
    assert refused.exit_code == 1
    assert "tools/part.py: error: output/outdated" in refused.stderr
    assert edited.exists()
    assert run("generate", "--force").exit_code == 0
    assert not edited.exists()
    assert run("check").exit_code == 0


def test_generate_overwrites_an_output_equal_to_one_among_its_last_20_generated_versions(
    small: Any, run: Run
) -> None:
    versions = [(small.root / DEFINITION).read_bytes()]
    for number in range(21):
        old = f"Greet {number - 1}." if number else "Greet somebody."
        change(small, old, f"Greet {number}.")
        assert run("generate").exit_code == 0
        versions.append((small.root / DEFINITION).read_bytes())
    (small.root / DEFINITION).write_bytes(versions[2])
    assert run("generate").exit_code == 0
    (small.root / DEFINITION).write_bytes(versions[1])
    assert run("generate").exit_code == 1


def test_generate_reports_and_keeps_a_user_file(small: Any, run: Run) -> None:
    """The exit code is 1 without `--force` and 0 with it."""
    note = small.write("generated/toy/notes.txt", "mine\n")
    change(small)
    done = run("generate")
    assert (done.exit_code, "(1 written," in done.stdout) == (1, False)
    assert "generated/toy/notes.txt: error: output/foreign-file" in done.stderr
    assert run("generate", "--force").exit_code == 0
    assert note.read_text() == "mine\n"


def test_generate_replaces_a_user_file_at_an_output_path_only_with_force(
    small: Any, run: Run
) -> None:
    foreign_file = small.write("generated/toy/tools/leave.py", "mine = 1\n")
    small.write("specs/toy/leave.yaml", f"name: leave\n{PART}")
    refused = run("generate")
    assert refused.exit_code == 1
    assert (
        "leave.py: error: output/foreign-file: a generated file belongs here"
        in refused.stderr
    )
    assert "replace it with `toolcast generate --force`" in refused.stderr
    assert foreign_file.read_text() == "mine = 1\n"
    assert run("generate", "--force").exit_code == 0
    assert run("check").exit_code == 0


def test_generate_removes_outputs_left_by_stash(small: Any, run: Run, git: Git) -> None:
    """`git stash` restores tracked files, and leaves new outputs."""
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


def test_generate_without_cache_removes_outputs_left_by_git_checkout_with_force(
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


def make_conflict(small: Any, run: Run, git: Git) -> None:
    """Merge two branches that changed the same line of a prompt file."""
    git("checkout", "--quiet", "-b", "theirs")
    change(small, new="Greet anyone.")
    run("generate")
    git("commit", "--quiet", "--all", "-m", "theirs")
    git("checkout", "--quiet", "main")
    change(small, new="Greet everyone.")
    run("generate")
    git("commit", "--quiet", "--all", "-m", "ours")
    assert "CONFLICT" in git("merge", "theirs")


def test_generate_repairs_outputs_with_merge_conflicts(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    make_conflict(small, run, git)
    shutil.rmtree(own_cache)
    assert "<<<<<<<" in (small.root / DEFINITION).read_text()
    git("checkout", "--theirs", "specs/toy/greet.yaml")
    errors = run("check").stderr
    assert "specs/toy/greet.yaml: error: output/outdated" in errors
    assert "edited by hand" not in errors
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0
    git("add", ".")
    assert "nothing to commit" not in git("commit", "-m", "merged")
    assert run("check").exit_code == 0


def test_generate_repairs_outputs_after_a_modify_delete_conflict(
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
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_generate_recognizes_outputs_with_any_git_object_format_and_line_ending(
    small: Any, run: Run, git: Git, own_cache: Path, format_: str, ending: bytes
) -> None:
    shutil.rmtree(small.root / ".git")
    git("init", "--quiet", f"--object-format={format_}")
    git("config", "core.autocrlf", "true")
    git("add", ".")
    for path in (small.root / "generated").rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", ending))
    shutil.rmtree(own_cache)
    change(small)
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0


def test_generate_recognizes_project_outputs_if_the_project_is_in_a_git_subfolder(
    small: Any, run: Run, git: Git, own_cache: Path
) -> None:
    git("rev-parse")
    (small.root / ".git").rename(small.root.parent / ".git")
    git("add", ".")
    shutil.rmtree(own_cache)
    change(small)
    assert run("generate").exit_code == 0


def test_generate_does_not_use_a_cache_folder_inside_the_project(
    small: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(small.root / "cache"))
    change(small)
    assert run("generate").exit_code == 1
    assert not (small.root / "cache").exists()


def test_generate_ignores_earlier_version_state_files_in_the_project(
    small: Any, run: Run, tmp_path: Path
) -> None:
    """They were a cache, a lock, a manifest and a journal."""
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
